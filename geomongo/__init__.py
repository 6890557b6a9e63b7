"""geomongo: a MongoDB driver that belongs to gevent. The public API is PyMongo's synchronous API.

Importing the package loads nothing else; each name below loads what it needs when it is first used.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from geomongo._version import __version__

if TYPE_CHECKING:
    from geomongo.collection import ReturnDocument
    from geomongo.constants import (
        ASCENDING,
        DESCENDING,
        GEO2D,
        GEOSPHERE,
        HASHED,
        MAX_SUPPORTED_WIRE_VERSION,
        MIN_SUPPORTED_WIRE_VERSION,
        TEXT,
    )
    from geomongo.cursor import CursorType
    from geomongo.mongo_client import MongoClient
    from geomongo.operations import DeleteMany, DeleteOne, IndexModel, InsertOne, ReplaceOne, UpdateMany, UpdateOne
    from geomongo.read_preferences import ReadPreference
    from geomongo.write_concern import WriteConcern

#: Where each exported name lives.
_EXPORTS = {
    "ASCENDING": "constants", "DESCENDING": "constants", "GEO2D": "constants", "GEOSPHERE": "constants",
    "HASHED": "constants", "TEXT": "constants", "MAX_SUPPORTED_WIRE_VERSION": "constants",
    "MIN_SUPPORTED_WIRE_VERSION": "constants",
    "CursorType": "cursor", "MongoClient": "mongo_client", "ReadPreference": "read_preferences",
    "ReturnDocument": "collection", "WriteConcern": "write_concern",
    "DeleteMany": "operations", "DeleteOne": "operations", "IndexModel": "operations", "InsertOne": "operations",
    "ReplaceOne": "operations", "UpdateMany": "operations", "UpdateOne": "operations",
}
_SUBMODULES = frozenset({
    "client_session", "collation", "collection", "command_cursor", "constants", "cursor", "database", "driver_info",
    "errors", "event_loggers", "mongo_client", "monitoring", "operations", "read_concern", "read_preferences",
    "results", "server_api", "server_description", "server_type", "topology_description", "typings", "uri_parser",
    "write_concern"})

__all__ = [
    "ASCENDING", "CursorType", "DESCENDING", "DeleteMany", "DeleteOne", "GEO2D", "GEOSPHERE", "HASHED", "IndexModel",
    "InsertOne", "MAX_SUPPORTED_WIRE_VERSION", "MIN_SUPPORTED_WIRE_VERSION", "MongoClient", "ReadPreference",
    "ReplaceOne", "ReturnDocument", "TEXT", "UpdateMany", "UpdateOne", "WriteConcern", "__version__",
    "get_version_string", "has_c", "version", "version_tuple"]

version = __version__
version_tuple: tuple[int | str, ...] = tuple(int(part) if part.isdigit() else part
                                             for part in __version__.split("."))


def get_version_string() -> str:
    """The version, as text."""
    return __version__


def has_c() -> bool:
    """Whether the C codec is in use: always, geomongo does not work without it."""
    return True


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is not None:
        value = getattr(import_module(f"geomongo.{module}"), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return import_module(f"geomongo.{name}")
    raise AttributeError(f"module 'geomongo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
