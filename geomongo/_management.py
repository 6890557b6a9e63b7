"""Commands on collections, indexes and databases, as client, database and collection share them."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from bson.codec_options import CodecOptions
from bson.son import SON

from geomongo import error_rules
from geomongo._commands.base import RETRY_READ, Scope
from geomongo._commands.find import CursorCommand
from geomongo._commands.run import RunCommand, WriteCommand
from geomongo._execution.cursors import CursorCore
from geomongo._handles import Inside
from geomongo.collation import validate_collation_or_none
from geomongo.command_cursor import CommandCursor, opened
from geomongo.errors import ConfigurationError, OperationFailure
from geomongo.index_keys import index_list, index_name, normalised_hint
from geomongo.operations import IndexModel
from geomongo.read_preferences import ReadPreference

_SON_OPTIONS: Any = CodecOptions(document_class=SON)
_PRIMARY = ReadPreference.PRIMARY


def options(kwargs: Mapping[str, Any], comment: Any, hint: Any = None) -> dict[str, Any]:
    """Further fields of a command."""
    fields = dict(kwargs)
    if "collation" in fields:
        fields["collation"] = validate_collation_or_none(fields["collation"])
        if fields["collation"] is None:
            del fields["collation"]
    if comment is not None:
        fields["comment"] = comment
    if hint is not None:
        fields["hint"] = normalised_hint(hint)
    return fields


def write(inside: Inside, document: Mapping[str, Any], session: Any, database: Optional[str] = None,
          allowable: Any = None) -> Any:
    """Run a command that changes something; raises where its write concern was not met."""
    scope = Scope(database or inside.scope.database, inside.scope.collection,
                  write_concern=inside.scope.write_concern)
    reply = inside.executor.execute(WriteCommand(scope, document, allowable=allowable), session)
    error_rules.raise_for_write_concern(reply)
    return reply


def refuse_encryption(encrypted_fields: Any) -> None:
    """Client-side encryption is not part of geomongo."""
    if encrypted_fields is not None:
        raise ConfigurationError("encrypted_fields: geomongo has no client-side encryption")


def create(inside: Inside, kwargs: Mapping[str, Any], session: Any) -> None:
    """create, for the scope's collection."""
    fields = dict(kwargs)
    if "size" in fields:
        fields["size"] = float(fields["size"])
    refuse_encryption(fields.pop("encryptedFields", None))
    write(inside, {"create": inside.scope.collection, **options(fields, None)}, session)


def drop(inside: Inside, name: str, session: Any, comment: Any) -> Any:
    """drop; a collection that does not exist is no error."""
    return write(inside, {"drop": name, **options({}, comment)}, session,
                 allowable=("ns not found", error_rules.NAMESPACE_NOT_FOUND))


def rename(inside: Inside, to: str, session: Any, comment: Any, kwargs: Mapping[str, Any]) -> Any:
    """renameCollection, which runs on the admin database."""
    document = {"renameCollection": inside.scope.namespace, "to": to, **options(kwargs, comment)}
    return write(inside, document, session, "admin")


def count(inside: Inside, comment: Any, kwargs: Mapping[str, Any]) -> int:
    """count without a query; 0 where the collection does not exist."""
    scope = inside.scope
    document = {"count": scope.collection, **options(kwargs, comment)}
    if scope.read_concern is not None:
        document["readConcern"] = scope.read_concern
    command = RunCommand(Scope(scope.database, scope.collection), document, scope.read_preference,
                         allowable=(error_rules.NAMESPACE_NOT_FOUND,), retry=RETRY_READ, reads=True)
    return int(inside.executor.execute(command).get("n", 0))


def create_indexes(inside: Inside, indexes: Sequence[Any], session: Any, comment: Any,
                   kwargs: Mapping[str, Any]) -> list[str]:
    """createIndexes; returns the names."""
    documents = []
    for index in indexes:
        if not isinstance(index, IndexModel):
            raise TypeError(f"{index!r} is not an instance of geomongo.operations.IndexModel")
        documents.append(index.document)
    write(inside, {"createIndexes": inside.scope.collection, "indexes": documents, **options(kwargs, comment)}, session)
    return [document["name"] for document in documents]


def drop_index(inside: Inside, index_or_name: Any, session: Any, comment: Any, kwargs: Mapping[str, Any]) -> None:
    """dropIndexes; an index or collection that does not exist is no error where PyMongo says so."""
    name = index_or_name
    if isinstance(index_or_name, (list, tuple, Mapping)):
        name = index_name(index_list(index_or_name))
    if not isinstance(name, str):
        raise TypeError(f"index_or_name must be an instance of str or list, not {type(name)}")
    write(inside, {"dropIndexes": inside.scope.collection, "index": name, **options(kwargs, comment)}, session,
          allowable=("ns not found", error_rules.NAMESPACE_NOT_FOUND))


def list_indexes(inside: Inside, session: Any, comment: Any) -> CommandCursor[Any]:
    """listIndexes; an empty cursor where the collection does not exist."""
    scope = Scope(inside.scope.database, inside.scope.collection, _SON_OPTIONS)
    document = {"listIndexes": scope.collection, "cursor": {}, **options({}, comment)}
    try:
        return open_cursor(inside, scope, document, session, comment)
    except OperationFailure as error:
        if not error_rules.is_namespace_not_found(error):
            raise
    core = CursorCore(inside.executor, scope, session)
    core.adopt({"id": 0, "ns": scope.namespace, "firstBatch": []}, None)
    return opened(core, session, inside.client)


def list_collections(inside: Inside, session: Any, comment: Any, kwargs: Mapping[str, Any]) -> CommandCursor[Any]:
    """listCollections."""
    fields = options(kwargs, comment)
    cursor = fields.pop("cursor", {})
    document = {"listCollections": 1, "cursor": cursor, **fields}
    return open_cursor(inside, Scope(inside.scope.database, "$cmd.listCollections"), document, session, comment)


def collection_options(inside: Inside, session: Any, comment: Any) -> dict[str, Any]:
    """Options of the scope's collection; empty where it does not exist."""
    cursor = list_collections(inside, session, comment, {"filter": {"name": inside.scope.collection}})
    for found in cursor:
        return dict(found.get("options", {}))
    return {}


def open_cursor(inside: Inside, scope: Scope, document: dict[str, Any], session: Any, comment: Any,
                preference: Any = _PRIMARY, max_await_time_ms: Optional[int] = None,
                retry: int = RETRY_READ) -> CommandCursor[Any]:
    """Run a command that opens a cursor; by default on the primary, as management commands must."""
    core = CursorCore(inside.executor, scope, session)
    core.comment = comment
    core.max_await_time_ms = max_await_time_ms
    core.open(CursorCommand(core.scope, document, preference, retry, reads=False))
    return opened(core, session, inside.client)
