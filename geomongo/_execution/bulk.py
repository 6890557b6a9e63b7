"""Longer writes: statements grouped into commands, commands cut into messages, results merged.

Source: specifications/source/crud/bulk-write.md, "Collection-level bulkWrite".
"""
from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional, TypeVar

from geomongo import error_rules
from geomongo._commands.base import Scope
from geomongo._commands.write import DELETE, INSERT, UPDATE, WriteBatch, encoded
from geomongo._execution.executor import Executor
from geomongo._execution.sessions import Session
from geomongo._net.sched import Pacer
from geomongo._wire.batching import Batcher
from geomongo.errors import BulkWriteError, WriteConcernError

T = TypeVar("T")
#: How many operations are looked at before others may get a turn.
_STRIDE = 500
#: Where the order does not count, inserts go first and deletes last.
_ORDER = (INSERT, UPDATE, DELETE)


class Statement(NamedTuple):
    """One operation: the command it belongs to, its part of it, its place in the application's list."""

    command: str
    document: Mapping[str, Any]
    position: int
    retryable: bool


class Run:
    """What goes into one command, in as many messages as it takes.

    `positions` are the operations' places in the application's list, None where they are 0, 1, 2 and so on; `many` are
    the indexes of those that may change more than one document.
    """

    __slots__ = ("command", "documents", "many", "positions")

    def __init__(self, command: str, documents: list[Any], positions: Optional[list[int]] = None) -> None:
        self.command = command
        self.documents = documents
        self.positions = positions
        self.many: list[int] = []

    def position(self, index: int) -> int:
        """The place of the operation `index` of this run."""
        return index if self.positions is None else self.positions[index]


def paced(items: Iterable[T]) -> Iterator[T]:
    """The items, with turns for others between: a hundred thousand of them take a while."""
    pacer = None
    for count, item in enumerate(items, 1):
        yield item
        if count % _STRIDE == 0:
            pacer = pacer or Pacer()
            pacer()


def runs(statements: Iterable[Statement], ordered: bool) -> list[Run]:
    """Group statements: neighbours of a kind where the order counts, else all of a kind."""
    grouped: list[Run] = []
    latest: dict[str, Run] = {}
    for command, document, position, retryable in paced(statements):
        run = latest.get(command)
        if run is None or (ordered and grouped[-1] is not run):
            run = latest[command] = Run(command, [], [])
            grouped.append(run)
        if not retryable:
            run.many.append(len(run.documents))
        run.documents.append(document)
        run.positions.append(position)  # type: ignore[union-attr]
    if not ordered:
        grouped.sort(key=lambda run: _ORDER.index(run.command))
    return grouped


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
            index = run.position(start + entry["index"])
            total["upserted"].append({**entry, "index": index})
        total["nUpserted"] += len(upserted)
        total["nMatched"] += n - len(upserted)
        total["nModified"] += int(reply.get("nModified", 0))

    def _add_error(self, run: Run, start: int, error: Mapping[str, Any]) -> None:
        index = start + error["index"]
        self.document["writeErrors"].append({**error, "index": run.position(index), "op": run.documents[index]})

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


def execute_bulk(executor: Executor, scope: Scope, grouped: Iterable[Run], ordered: bool,
                 extras: Mapping[str, dict[str, Any]], session: Optional[Session]) -> dict[str, Any]:
    """Run what `runs` has grouped; `extras` are further fields by command. Raises BulkWriteError.

    All messages share one session, so that the server sees them as one application's.
    """
    shared = session if session is not None else Session()
    result = BulkResult()
    try:
        for run in grouped:
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
    batcher = Batcher(encoded(run.documents, scope))
    while batcher.has_more():
        command = WriteBatch(scope, run.command, batcher, ordered, run.many, extras, Pacer())
        try:
            reply = executor.execute(command, session)
        except WriteConcernError:
            reply = command.refused  # and it was not to be had in another attempt
        if reply is not None:
            result.merge(run, command.start, reply)
            if ordered and result.has_errors:
                return
