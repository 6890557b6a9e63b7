"""find, getMore and killCursors.

Source: MongoDB manual, database commands; specifications/source/find_getmore_killcursors_commands.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional

from bson.int64 import Int64

from geomongo._bson import array_to_stream, decode_many
from geomongo._commands.base import FIRST_BATCH, NEXT_BATCH, NO_RETRY, RETRY_READ, Command, Scope, ServerInfo
from geomongo._wire.op_msg import EXHAUST_ALLOWED
from geomongo._wire.raw import EMPTY_DOCUMENT
from geomongo.typings import Address


class FindOne(Command):
    """find for one document: the hot path."""

    __slots__ = ("filter", "preference", "projection")

    name = "find"
    cut = FIRST_BATCH
    retry = RETRY_READ
    reads = True

    def __init__(self, scope: Scope, filter: Mapping[str, Any], projection: Optional[Mapping[str, Any]]) -> None:
        self.scope = scope
        self.filter = filter
        self.projection = projection
        self.preference = scope.read_preference

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """One literal; the rare parts follow."""
        document: dict[str, Any] = {"find": self.scope.collection, "filter": self.filter, "limit": 1,
                                    "singleBatch": True}
        if self.projection is not None:
            document["projection"] = self.projection
        if self.scope.read_concern is not None:
            document["readConcern"] = self.scope.read_concern
        return document

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The document, or None."""
        if batch is None:
            documents = reply["cursor"]["firstBatch"]
        elif len(batch) == len(EMPTY_DOCUMENT):
            return None
        else:
            documents = decode_many(array_to_stream(batch), self.scope.codec_options)
        return documents[0] if documents else None


class CursorCommand(Command):
    """A command that opens a cursor: find, aggregate, list commands, or one of the application's own.

    `document` is complete but for what the executor adds. The result is the reply's `cursor` document and the batch.
    `answered_by` is the server that holds the cursor, once there is one.
    """

    __slots__ = ("answered_by", "document", "name", "preference", "reads", "retry")

    cut = FIRST_BATCH

    def __init__(self, scope: Scope, document: dict[str, Any], preference: Any, retry: int = RETRY_READ,
                 reads: bool = True) -> None:
        self.scope = scope
        self.reads = reads
        self.document = document
        self.name = next(iter(document))
        self.preference = preference
        self.retry = retry
        self.answered_by: Optional[Address] = None

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """A copy, to which the executor adds its fields."""
        self.answered_by = info.address
        return dict(self.document)

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The `cursor` document, the batch, and the reply around them."""
        return reply.get("cursor"), batch


class GetMore(Command):
    """The next batch of a cursor, from the server that holds it."""

    __slots__ = ("address", "batch_size", "collection", "comment", "cursor_id", "max_await_time_ms")

    name = "getMore"
    cut = NEXT_BATCH
    retry = NO_RETRY

    def __init__(self, scope: Scope, cursor_id: int, address: Address, collection: str, batch_size: int,
                 max_await_time_ms: Optional[int], comment: Any) -> None:
        self.scope = scope
        self.cursor_id = cursor_id
        self.address = address
        self.collection = collection
        self.batch_size = batch_size
        self.max_await_time_ms = max_await_time_ms
        self.comment = comment

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """getMore takes no read concern and no maxTimeMS but the one for awaiting data."""
        document: dict[str, Any] = {"getMore": Int64(self.cursor_id), "collection": self.collection}
        if self.batch_size:
            document["batchSize"] = self.batch_size
        if self.max_await_time_ms is not None:
            document["maxTimeMS"] = self.max_await_time_ms
        if self.comment is not None:
            document["comment"] = self.comment
        return document

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The `cursor` document, and the batch."""
        return reply.get("cursor"), batch


class ExhaustGetMore(GetMore):
    """getMore that asks for all batches at once."""

    __slots__ = ()
    flags = EXHAUST_ALLOWED


class KillCursors(Command):
    """Have the server forget a cursor."""

    __slots__ = ("address", "collection", "cursor_id")

    name = "killCursors"

    def __init__(self, scope: Scope, cursor_id: int, address: Address, collection: str) -> None:
        self.scope = scope
        self.cursor_id = cursor_id
        self.address = address
        self.collection = collection

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """One cursor at a time."""
        return {"killCursors": self.collection, "cursors": [Int64(self.cursor_id)]}
