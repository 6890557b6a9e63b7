"""Checks a hello reply before anybody reads it: one row a field, what it must be, and how that is called.

A server that says nonsense gives a ProtocolError on that connection, and no surprise in the rules of discovery later.
Source: specifications/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md, "Server description".
"""
from __future__ import annotations

from datetime import datetime
from typing import Any, Callable, Mapping

from bson.objectid import ObjectId

from geomongo._sdam.server_description import is_topology_version, parse_address
from geomongo.errors import ProtocolError


def check(hello: Mapping[str, Any]) -> None:
    """Raise ProtocolError where a field that the driver reads is not what it must be."""
    for field, (fits, meaning) in _FIELDS.items():
        value = hello.get(field)
        if value is not None and not fits(value):
            raise ProtocolError(f"the server's hello says {field}: {value!r:.100}, which is not {meaning}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _is_size(value: Any) -> bool:
    return _is_whole(value) and value >= 1


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_address(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        _, port = parse_address(value)
    except ValueError:
        return False
    return port is None or 0 < port < 65536


def _are_addresses(value: Any) -> bool:
    return isinstance(value, list) and all(_is_address(address) for address in value)


def _is_document(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_write(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("lastWriteDate"), (datetime, type(None)))


def _is_object_id(value: Any) -> bool:
    return isinstance(value, ObjectId)


_WHOLE = (_is_whole, "a whole number")
_SIZE = (_is_size, "a positive number")
_ADDRESS = (_is_address, "an address")
_ADDRESSES = (_are_addresses, "a list of addresses")
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "minWireVersion": _WHOLE, "maxWireVersion": _WHOLE, "setVersion": _WHOLE, "connectionId": _WHOLE,
    "logicalSessionTimeoutMinutes": _WHOLE,
    "maxBsonObjectSize": _SIZE, "maxMessageSizeBytes": _SIZE, "maxWriteBatchSize": _SIZE,
    "hosts": _ADDRESSES, "passives": _ADDRESSES, "arbiters": _ADDRESSES, "me": _ADDRESS, "primary": _ADDRESS,
    "setName": (_is_string, "a string"),
    "tags": (_is_document, "a document"),
    "lastWrite": (_is_write, "a document with a date"),
    "electionId": (_is_object_id, "an ObjectId"),
    "topologyVersion": (is_topology_version, "a document with processId and counter"),
}
