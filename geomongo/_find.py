"""The options of a find, checked, and the command made of them."""
from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from geomongo._commands.base import Scope
from geomongo.checks import validate_boolean, validate_is_document_type, validate_is_mapping
from geomongo.client_session import ClientSession
from geomongo.errors import InvalidOperation

TAILABLE, OPLOG_REPLAY, NO_TIMEOUT, AWAIT_DATA, EXHAUST, PARTIAL = 2, 8, 16, 32, 64, 128
_CURSOR_TYPES = (0, TAILABLE, TAILABLE | AWAIT_DATA, EXHAUST)


def check_session(session: Any, client: Any) -> None:
    """TypeError unless `session` is a session or None; InvalidOperation where it is another client's or has ended."""
    if session is None:
        return
    if not isinstance(session, ClientSession):
        raise TypeError(f"session must be an instance of ClientSession, not {type(session)}")
    session.check_client(client)


def projection_document(projection: Any) -> Optional[Mapping[str, Any]]:
    """A projection as the server takes it. Raises TypeError."""
    if projection is None:
        return None
    if isinstance(projection, Mapping):
        return projection
    if isinstance(projection, (str, bytes)) or not isinstance(projection, Iterable):
        raise TypeError("projection must be a mapping or list of key names")
    names = list(projection)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("projection must be a list of key names, each an instance of str")
    return dict.fromkeys(names, 1)


class FindOptions:
    """Everything that a find can be told."""

    __slots__ = ("allow_disk_use", "batch_size", "collation", "comment", "empty", "filter", "flags", "hint", "let",
                 "limit", "max", "max_await_time_ms", "max_scan", "max_time_ms", "min", "projection", "return_key",
                 "session", "show_record_id", "skip", "snapshot", "sort")

    def __init__(self, filter: Any, projection: Any, skip: Any, limit: Any, batch_size: Any, session: Any) -> None:
        filter = {} if filter is None else filter
        validate_is_mapping("filter", filter)
        for name, value in (("skip", skip), ("limit", limit)):
            if not isinstance(value, int):
                raise TypeError(f"{name} must be an instance of int, not {type(value)}")
        self.check_batch_size(batch_size)
        self.filter: Mapping[str, Any] = filter
        self.projection = projection_document(projection) or None
        self.skip: int = skip
        self.limit: int = limit
        self.batch_size: int = batch_size
        self.session: Optional[ClientSession] = session
        self.flags = 0
        self.empty = False
        self.sort: Any = None
        self.hint: Any = None
        self.collation: Any = None
        self.allow_disk_use: Optional[bool] = None
        self.max_await_time_ms: Optional[int] = None

    @staticmethod
    def check_batch_size(batch_size: Any) -> None:
        """TypeError or ValueError unless it is a number of documents."""
        if not isinstance(batch_size, int):
            raise TypeError(f"batch_size must be an integer, not {type(batch_size)}")
        if batch_size < 0:
            raise ValueError("batch_size must be >= 0")

    def set_flags(self, no_cursor_timeout: Any, cursor_type: Any, allow_partial_results: Any,
                  oplog_replay: Any) -> None:
        """The options that once were bits of the query message."""
        if cursor_type not in _CURSOR_TYPES:
            raise ValueError("not a valid value for cursor_type")
        self.flags = cursor_type
        for name, value, flag in (("no_cursor_timeout", no_cursor_timeout, NO_TIMEOUT),
                                  ("allow_partial_results", allow_partial_results, PARTIAL),
                                  ("oplog_replay", oplog_replay, OPLOG_REPLAY)):
            if validate_boolean(name, value):
                self.flags |= flag
        self._check_exhaust()

    def set_rare(self, *, max_scan: Any, max_time_ms: Any, max: Any, min: Any, return_key: Any, show_record_id: Any,
                 snapshot: Any, comment: Any, let: Any) -> None:
        """Options that are passed on as they are, once their shape is right."""
        if let is not None:
            validate_is_document_type("let", let)
        if max_time_ms is not None and not isinstance(max_time_ms, int):
            raise TypeError(f"max_time_ms must be an integer or None, not {type(max_time_ms)}")
        self.max_scan = max_scan
        self.max_time_ms: Optional[int] = max_time_ms
        self.max = dict(max) if max else None
        self.min = dict(min) if min else None
        self.return_key = return_key
        self.show_record_id = show_record_id
        self.snapshot = snapshot
        self.comment = comment
        self.let = let

    def _check_exhaust(self) -> None:
        if self.exhaust and self.limit:
            raise InvalidOperation("Can't use limit and exhaust together.")

    def add_flags(self, mask: Any) -> None:
        """Set bits."""
        if not isinstance(mask, int):
            raise TypeError(f"mask must be an int, not {type(mask)}")
        self.flags |= mask
        self._check_exhaust()

    def remove_flags(self, mask: Any) -> None:
        """Unset bits."""
        if not isinstance(mask, int):
            raise TypeError(f"mask must be an int, not {type(mask)}")
        self.flags &= ~mask

    @property
    def tailable(self) -> bool:
        """Whether the cursor stays open at the end of a capped collection."""
        return bool(self.flags & TAILABLE)

    @property
    def await_data(self) -> bool:
        """Whether the server waits for new documents."""
        return bool(self.flags & AWAIT_DATA)

    @property
    def exhaust(self) -> bool:
        """Whether the server sends all batches at once."""
        return bool(self.flags & EXHAUST)

    def copied(self) -> FindOptions:
        """A copy for another cursor."""
        other = FindOptions.__new__(FindOptions)
        for name in FindOptions.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def command(self, scope: Scope) -> dict[str, Any]:
        """The find command. Raises InvalidOperation for bounds without a hint."""
        document: dict[str, Any] = {"find": scope.collection, "filter": self.filter}
        if self.projection is not None:
            document["projection"] = self.projection
        if self.skip:
            document["skip"] = self.skip
        if self.limit:
            document["limit"] = abs(self.limit)
            if self.limit < 0:
                document["singleBatch"] = True
        if self.batch_size:
            # A first batch that holds the whole limit lets the server close the cursor with it.
            document["batchSize"] = self.batch_size + (self.batch_size == self.limit)
        for name, value in self._rest():
            if value is not None:
                document[name] = value
        if scope.read_concern is not None:
            document["readConcern"] = scope.read_concern
        self._add_flags(document)
        return document

    def _rest(self) -> Iterable[tuple[str, Any]]:
        if (self.max is not None or self.min is not None) and self.hint is None:
            raise InvalidOperation("Passing a 'hint' is required when using the min/max query option to ensure the "
                                   "query utilizes the correct index")
        return (("sort", self.sort), ("hint", self.hint), ("collation", self.collation), ("comment", self.comment),
                ("maxTimeMS", self.max_time_ms), ("max", self.max), ("min", self.min),
                ("returnKey", self.return_key), ("showRecordId", self.show_record_id), ("maxScan", self.max_scan),
                ("snapshot", self.snapshot), ("let", self.let), ("allowDiskUse", self.allow_disk_use))

    def _add_flags(self, document: dict[str, Any]) -> None:
        for flag, name in ((TAILABLE, "tailable"), (AWAIT_DATA, "awaitData"), (NO_TIMEOUT, "noCursorTimeout"),
                           (OPLOG_REPLAY, "oplogReplay"), (PARTIAL, "allowPartialResults")):
            if self.flags & flag:
                document[name] = True
