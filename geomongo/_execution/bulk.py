"""Longer writes: statements grouped into commands, commands cut into messages, results merged.

Source: specifications/source/crud/bulk-write.md, "Collection-level bulkWrite".
"""
from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional

from geomongo import error_rules
from geomongo._commands.base import Scope
from geomongo._commands.write import DELETE, INSERT, UPDATE, WriteBatch, encoded
from geomongo._execution.executor import Executor
from geomongo._execution.sessions import Session
from geomongo._net.sched import breathe
from geomongo._wire.batching import Batcher
from geomongo.errors import BulkWriteError


class Statement(NamedTuple):
    """One operation: the command it belongs to, its part of it, its place in the application's list."""

    command: str
    document: Mapping[str, Any]
    position: int
    retryable: bool


class Run(NamedTuple):
    """Statements that go into one command (in as many messages as it takes)."""

    command: str
    statements: list[Statement]


def runs(statements: Iterable[Statement], ordered: bool) -> Iterator[Run]:
    """Group statements: neighbours of a kind where the order counts, else all of a kind."""
    if ordered:
        current: Optional[Run] = None
        for statement in statements:
            if current is None or current.command != statement.command:
                if current is not None:
                    yield current
                current = Run(statement.command, [])
            current.statements.append(statement)
        if current is not None:
            yield current
        return
    by_command: dict[str, list[Statement]] = {}
    for statement in statements:
        by_command.setdefault(statement.command, []).append(statement)
    for command in (INSERT, UPDATE, DELETE):
        if command in by_command:
            yield Run(command, by_command[command])


class BulkResult:
    """Counts and errors of a bulk write, in the shape of `BulkWriteError.details`."""

    __slots__ = ("document",)

    def __init__(self) -> None:
        self.document: dict[str, Any] = {
            "writeErrors": [], "writeConcernErrors": [], "nInserted": 0, "nUpserted": 0, "nMatched": 0,
            "nModified": 0, "nRemoved": 0, "upserted": []}

    def merge(self, run: Run, start: int, reply: Mapping[str, Any]) -> None:
        """Take in the reply to the statements of `run` from `start` on."""
        total = self.document
        n = int(reply.get("n", 0))
        if run.command == INSERT:
            total["nInserted"] += n
        elif run.command == DELETE:
            total["nRemoved"] += n
        else:
            self._merge_update(run, start, n, reply)
        for error in reply.get("writeErrors", ()):
            self._add_error(run, start, error)
        unsatisfied = error_rules.write_concern_error(reply)
        if unsatisfied is not None:
            total["writeConcernErrors"].append(dict(unsatisfied))
        labels = reply.get("errorLabels")
        if labels:
            total["errorLabels"] = [*total.get("errorLabels", []), *labels]

    def _merge_update(self, run: Run, start: int, n: int, reply: Mapping[str, Any]) -> None:
        total = self.document
        upserted = reply.get("upserted") or []
        for entry in upserted:
            index = run.statements[start + entry["index"]].position
            total["upserted"].append({**entry, "index": index})
        total["nUpserted"] += len(upserted)
        total["nMatched"] += n - len(upserted)
        total["nModified"] += int(reply.get("nModified", 0))

    def _add_error(self, run: Run, start: int, error: Mapping[str, Any]) -> None:
        statement = run.statements[start + error["index"]]
        self.document["writeErrors"].append({**error, "index": statement.position, "op": statement.document})

    @property
    def has_errors(self) -> bool:
        """Whether a statement failed."""
        return bool(self.document["writeErrors"])

    def raise_errors(self) -> None:
        """Raise BulkWriteError where anything failed."""
        total = self.document
        if total["writeErrors"] or total["writeConcernErrors"]:
            total["writeErrors"].sort(key=lambda error: error["index"])
            raise BulkWriteError(total)


def execute_bulk(executor: Executor, scope: Scope, statements: Iterable[Statement], ordered: bool,
                 extras: Mapping[str, dict[str, Any]], session: Optional[Session]) -> dict[str, Any]:
    """Run `statements`; `extras` are further fields by command. Raises BulkWriteError.

    All messages share one session, so that the server sees them as one application's.
    """
    shared = session if session is not None else Session()
    result = BulkResult()
    try:
        for run in runs(statements, ordered):
            _execute_run(executor, scope, run, ordered, extras.get(run.command, {}), shared, result)
            if ordered and result.has_errors:
                break
    finally:
        if session is None:
            shared.end()
    if scope.acknowledged:
        result.raise_errors()
    return result.document


def _execute_run(executor: Executor, scope: Scope, run: Run, ordered: bool, extras: dict[str, Any],
                 session: Session, result: BulkResult) -> None:
    batcher = Batcher(encoded((statement.document for statement in run.statements), scope))
    retryable = all(statement.retryable for statement in run.statements)
    while batcher.has_more():
        command = WriteBatch(scope, run.command, batcher, ordered, retryable, extras, breathe)
        reply = executor.execute(command, session)
        if reply is not None:
            result.merge(run, command.start, reply)
            if ordered and result.has_errors:
                return
