"""insert, update and delete: one statement (the hot path) or batches of them.

Source: specifications/source/crud/crud.md and bulk-write.md; MongoDB manual, database commands.
"""
from __future__ import annotations

from bisect import bisect_left
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional
from typing import Sequence as Sequence_

from geomongo import error_rules
from geomongo._bson import encode
from geomongo._commands.base import NO_RETRY, RETRY_WRITE, Command, Scope, Sequence, ServerInfo
from geomongo._wire.batching import STATEMENT_ALLOWANCE, Batcher, Limits, check_size

INSERT, UPDATE, DELETE = "insert", "update", "delete"
#: Name of the document sequence of each command.
SEQUENCES = {INSERT: "documents", UPDATE: "updates", DELETE: "deletes"}
#: What the executor adds to a command, at most, in bytes (lsid, $clusterTime, txnNumber, Stable API, $db).
_EXECUTOR_FIELDS = 1024


class WriteOne(Command):
    """One insert, update or delete statement. `extras` are further fields of the command."""

    __slots__ = ("acknowledged", "extras", "name", "retry", "sequence", "statement")

    def __init__(self, scope: Scope, name: str, statement: Mapping[str, Any], retry: int = RETRY_WRITE,
                 extras: Optional[dict[str, Any]] = None) -> None:
        self.scope = scope
        self.name = name
        self.statement = statement
        self.retry = retry
        self.extras = extras
        self.sequence: Optional[Sequence] = None
        self.acknowledged = scope.acknowledged

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """The body; the statement goes beside it, encoded once."""
        scope = self.scope
        name = self.name
        if self.sequence is None:
            encoded = encode(self.statement, False, scope.codec_options)
            self.sequence = Sequence(SEQUENCES[name], [encoded])
        if len(self.sequence.documents[0]) > info.limits.max_document:
            allowance = 0 if name == INSERT else STATEMENT_ALLOWANCE
            check_size(len(self.sequence.documents[0]), info.limits.max_document + allowance)
        document = {name: scope.collection, "ordered": True}
        if self.extras is not None:
            document.update(self.extras)
        if scope.write_concern is not None:
            document["writeConcern"] = scope.write_concern
        return document

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The reply; None for an unacknowledged write. Raises WriteError, DuplicateKeyError, WriteConcernError."""
        if reply is not None and ("writeErrors" in reply or "writeConcernError" in reply):
            error_rules.raise_for_write_reply(reply)
        return reply


class WriteBatch(Command):
    """One message of a longer write. The result is the reply, whatever errors it reports."""

    __slots__ = ("_batcher", "_breathe", "_many", "acknowledged", "extras", "name", "ordered", "refused", "retry",
                 "sequence", "start")

    def __init__(self, scope: Scope, name: str, batcher: Batcher, ordered: bool, many: Sequence_[int],
                 extras: dict[str, Any], breathe: Callable[[], None]) -> None:
        self.scope = scope
        self.name = name
        self.ordered = ordered
        self.extras = extras
        self.retry = NO_RETRY
        #: The reply that a retry was asked for by, where the server labels its write concern error so.
        self.refused: Any = None
        self._many = many
        self.acknowledged = scope.acknowledged
        self.sequence: Optional[Sequence] = None
        #: Index of the batch's first statement.
        self.start = 0
        self._batcher = batcher
        self._breathe = breathe

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """The body; the statements that fit are taken once and go out again in a retry."""
        scope = self.scope
        document: dict[str, Any] = {self.name: scope.collection, "ordered": self.ordered, **self.extras}
        if scope.write_concern is not None:
            document["writeConcern"] = scope.write_concern
        if self.sequence is None:
            overhead = len(encode(document, False, scope.codec_options)) + _EXECUTOR_FIELDS
            statements = self._batcher.take(self._limits(info.limits), overhead, self._breathe)
            self.sequence = Sequence(SEQUENCES[self.name], statements)
            self.start = self._batcher.start
            # Statements that may change many documents cannot be numbered.
            first = bisect_left(self._many, self.start)
            if first == len(self._many) or self._many[first] >= self.start + len(statements):
                self.retry = RETRY_WRITE
        return document

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The reply. Raises WriteConcernError once, where the server asks for a retry by its label."""
        if reply is not None and self.refused is None and self.retry == RETRY_WRITE and (
                error_rules.RETRYABLE_WRITE_ERROR in reply.get("errorLabels", ())):
            self.refused = reply
            error_rules.raise_for_write_concern(reply)
        return reply

    def _limits(self, limits: Limits) -> Limits:
        if self.name == INSERT:
            return limits
        return limits._replace(max_document=limits.max_document + STATEMENT_ALLOWANCE)


def encoded(statements: Iterable[Mapping[str, Any]], scope: Scope) -> Iterator[bytes]:
    """Statements encoded one by one, as a batch takes them."""
    options = scope.codec_options
    for statement in statements:
        yield encode(statement, False, options)
