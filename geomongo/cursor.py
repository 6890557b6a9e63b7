"""The cursor of `Collection.find`.

Source: MongoDB manual, "find"; specifications/source/find_getmore_killcursors_commands.
"""
from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NoReturn, Optional, Union

from bson.code import Code

from geomongo._bson import without_codecs
from geomongo._commands.base import RETRY_READ, Scope
from geomongo._commands.find import CursorCommand
from geomongo._commands.run import RunCommand, ValueCommand
from geomongo._cursor_base import CursorBase
from geomongo._execution.cursors import CursorCore
from geomongo._find import FindOptions, check_session
from geomongo.checks import validate_boolean
from geomongo.collation import validate_collation_or_none
from geomongo.errors import InvalidOperation
from geomongo.index_keys import index_document, index_list, normalised_hint
from geomongo.typings import CollationIn, DocumentType

if TYPE_CHECKING:
    from geomongo.client_session import ClientSession
    from geomongo.collection import Collection

__all__ = ["Cursor", "CursorType", "RawBatchCursor"]

_TAILABLE, _NO_TIMEOUT, _AWAIT_DATA, _EXHAUST = 2, 16, 32, 64


class CursorType:
    """The kinds of cursor that `find` can open."""

    NON_TAILABLE = 0
    TAILABLE = _TAILABLE
    TAILABLE_AWAIT = _TAILABLE | _AWAIT_DATA
    EXHAUST = _EXHAUST


class Cursor(CursorBase[DocumentType]):
    """Iterates over the documents that match. Opens when the first is asked for; for one greenlet at a time.

    Raises TypeError and ValueError for options of the wrong shape.
    """

    __slots__ = ("_collection", "_options", "_started")

    def __init__(self, collection: Collection[DocumentType], filter: Optional[Mapping[str, Any]] = None,
                 projection: Optional[Union[Mapping[str, Any], Iterable[str]]] = None, skip: int = 0, limit: int = 0,
                 no_cursor_timeout: bool = False, cursor_type: int = CursorType.NON_TAILABLE, sort: Any = None,
                 allow_partial_results: bool = False, oplog_replay: bool = False, batch_size: int = 0,
                 collation: Optional[CollationIn] = None, hint: Any = None, max_scan: Optional[int] = None,
                 max_time_ms: Optional[int] = None, max: Any = None, min: Any = None,
                 return_key: Optional[bool] = None, show_record_id: Optional[bool] = None,
                 snapshot: Optional[bool] = None, comment: Any = None, session: Optional[ClientSession] = None,
                 allow_disk_use: Optional[bool] = None, let: Optional[Mapping[str, Any]] = None) -> None:
        inside = collection.__geomongo__
        check_session(session, inside.client)
        options = FindOptions(filter, projection, skip, limit, batch_size, session)
        options.set_flags(no_cursor_timeout, cursor_type, allow_partial_results, oplog_replay)
        options.set_rare(max_scan=max_scan, max_time_ms=max_time_ms, max=max, min=min, return_key=return_key,
                         show_record_id=show_record_id, snapshot=snapshot, comment=comment, let=let)
        if allow_disk_use is not None:
            options.allow_disk_use = validate_boolean("allow_disk_use", allow_disk_use)
        if sort:
            options.sort = index_document(sort)
        elif sort is not None and not isinstance(sort, (list, tuple, Mapping)):
            index_document(sort)
        options.collation = validate_collation_or_none(collation)
        options.hint = normalised_hint(hint)
        self._collection = collection
        self._options = options
        self._new_core()

    def _new_core(self) -> None:
        inside = self._collection.__geomongo__
        options = self._options
        self._started = False
        core = CursorCore(inside.executor, inside.scope, options.session, options.batch_size, options.limit,
                          self._is_raw(), options.exhaust)
        core.comment = options.comment
        self._set_core(core)

    def _is_raw(self) -> bool:
        return False

    # -- reading

    def _more(self) -> bool:
        if self._started:
            return self._core.fetch()
        if self._options.empty or self._core.killed:
            self._core.killed = True
            return False
        self._started = True
        core = self._core
        if self._options.tailable and self._options.await_data:
            core.max_await_time_ms = self._options.max_await_time_ms
        core.open(CursorCommand(core.scope, self._options.command(core.scope), core.scope.read_preference, RETRY_READ))
        return bool(core.documents) or core.fetch()

    def __getitem__(self, index: Union[int, slice]) -> Union[DocumentType, Cursor[DocumentType]]:
        """A document by position, or this cursor with skip and limit set from a slice.

        Raises InvalidOperation once the cursor was read from, IndexError, TypeError.
        """
        self._refuse_when_started()
        options = self._options
        options.empty = False
        if isinstance(index, slice):
            self._set_slice(index)
            return self
        if not isinstance(index, int):
            raise TypeError(f"index {index!r} cannot be applied to Cursor instances")
        if index < 0:
            raise IndexError("Cursor instances do not support negative indices")
        clone = self.clone()
        clone.skip(index + options.skip)
        clone.limit(-1)
        for document in clone:
            return document
        raise IndexError("no such item for Cursor instance")

    def _set_slice(self, index: slice) -> None:
        if index.step is not None:
            raise IndexError("Cursor instances do not support slice steps")
        skip = index.start or 0
        if skip < 0:
            raise IndexError("Cursor instances do not support negative indices")
        if index.start is not None:
            limit = 0
        else:
            limit = self._options.limit
        if index.stop is not None:
            limit = index.stop - skip
            if limit < 0:
                raise IndexError(f"stop index must be greater than start index for slice {index!r}")
            self._options.empty = limit == 0
        self._options.skip = skip
        self._set_limit(limit)

    def _set_limit(self, limit: int) -> None:
        self._options.limit = limit
        self._core.limit = limit

    # -- options, until the first document is asked for

    def _refuse_when_started(self) -> None:
        if self._started or self._core.killed:
            raise InvalidOperation("cannot set options after executing query")

    def add_option(self, mask: int) -> Cursor[DocumentType]:
        """Set flags of the old query message: 2 tailable, 16 no timeout, 32 await data, 64 exhaust, 128 partial."""
        self._refuse_when_started()
        self._options.add_flags(mask)
        self._new_core()
        return self

    def remove_option(self, mask: int) -> Cursor[DocumentType]:
        """Unset flags, as for `add_option`."""
        self._refuse_when_started()
        self._options.remove_flags(mask)
        self._new_core()
        return self

    def allow_disk_use(self, allow_disk_use: bool) -> Cursor[DocumentType]:
        """Whether the server may use temporary files for a sort. Raises TypeError."""
        if not isinstance(allow_disk_use, bool):
            raise TypeError(f"allow_disk_use must be a bool, not {type(allow_disk_use)}")
        self._refuse_when_started()
        self._options.allow_disk_use = allow_disk_use
        return self

    def limit(self, limit: int) -> Cursor[DocumentType]:
        """Return at most `limit` documents; 0 is no limit, a negative number asks for one batch only."""
        if not isinstance(limit, int):
            raise TypeError(f"limit must be an integer, not {type(limit)}")
        self._refuse_when_started()
        self._options.empty = False
        self._set_limit(limit)
        return self

    def batch_size(self, batch_size: int) -> Cursor[DocumentType]:
        """How many documents a reply brings at most; 0 leaves it to the server. Raises TypeError, ValueError."""
        self._options.check_batch_size(batch_size)
        self._refuse_when_started()
        self._options.batch_size = self._core.batch_size = batch_size
        return self

    def skip(self, skip: int) -> Cursor[DocumentType]:
        """Leave out the first `skip` documents. Raises TypeError, ValueError."""
        if not isinstance(skip, int):
            raise TypeError(f"skip must be an integer, not {type(skip)}")
        if skip < 0:
            raise ValueError("skip must be >= 0")
        self._refuse_when_started()
        self._options.skip = skip
        return self

    def max_time_ms(self, max_time_ms: Optional[int]) -> Cursor[DocumentType]:
        """How long the server may work on the query, in milliseconds. Raises TypeError."""
        if not isinstance(max_time_ms, int) and max_time_ms is not None:
            raise TypeError(f"max_time_ms must be an integer or None, not {type(max_time_ms)}")
        self._refuse_when_started()
        self._options.max_time_ms = max_time_ms
        return self

    def max_await_time_ms(self, max_await_time_ms: Optional[int]) -> Cursor[DocumentType]:
        """How long the server waits for new documents of a TAILABLE_AWAIT cursor, in milliseconds."""
        if not isinstance(max_await_time_ms, int) and max_await_time_ms is not None:
            raise TypeError(f"max_await_time_ms must be an integer or None, not {type(max_await_time_ms)}")
        self._refuse_when_started()
        self._options.max_await_time_ms = max_await_time_ms
        return self

    def max_scan(self, max_scan: Optional[int]) -> Cursor[DocumentType]:
        """Deprecated by the server: look at no more than so many documents."""
        self._refuse_when_started()
        self._options.max_scan = max_scan
        return self

    def max(self, spec: Any) -> Cursor[DocumentType]:
        """Exclusive upper bound of the index keys; needs a hint."""
        if not isinstance(spec, (list, tuple)):
            raise TypeError(f"spec must be an instance of list or tuple, not {type(spec)}")
        self._refuse_when_started()
        self._options.max = dict(spec)
        return self

    def min(self, spec: Any) -> Cursor[DocumentType]:
        """Inclusive lower bound of the index keys; needs a hint."""
        if not isinstance(spec, (list, tuple)):
            raise TypeError(f"spec must be an instance of list or tuple, not {type(spec)}")
        self._refuse_when_started()
        self._options.min = dict(spec)
        return self

    def sort(self, key_or_list: Any, direction: Optional[Union[int, str]] = None) -> Cursor[DocumentType]:
        """Sort by a key and direction, or by a list of them."""
        self._refuse_when_started()
        self._options.sort = index_document(index_list(key_or_list, direction))
        return self

    def hint(self, index: Any) -> Cursor[DocumentType]:
        """Which index to use: its name or its keys; None lets the server choose."""
        self._refuse_when_started()
        self._options.hint = normalised_hint(index)
        return self

    def comment(self, comment: Any) -> Cursor[DocumentType]:
        """A comment for logs and profiles."""
        self._refuse_when_started()
        self._options.comment = self._core.comment = comment
        return self

    def where(self, code: Union[str, Code]) -> Cursor[DocumentType]:
        """Add a $where clause in JavaScript. Raises TypeError."""
        self._refuse_when_started()
        if not isinstance(code, Code):
            code = Code(code)
        self._options.filter = {**self._options.filter, "$where": code}
        return self

    def collation(self, collation: Optional[CollationIn]) -> Cursor[DocumentType]:
        """How strings are compared."""
        self._refuse_when_started()
        self._options.collation = validate_collation_or_none(collation)
        return self

    # -- other ways to run the query

    def explain(self) -> Any:
        """How the server would run the query."""
        scope: Scope = self._collection.__geomongo__.scope
        document = {"explain": self._options.command(scope)}
        executor = self._collection.__geomongo__.executor
        plain = Scope(scope.database, scope.collection, without_codecs(scope.codec_options))
        return executor.execute(RunCommand(plain, document, scope.read_preference, retry=RETRY_READ),
                                self._options.session)

    def distinct(self, key: str) -> list[Any]:
        """The distinct values of `key` among the documents that match."""
        options = self._options
        scope: Scope = self._collection.__geomongo__.scope
        document: dict[str, Any] = {"distinct": scope.collection, "key": key}
        if options.filter:
            document["query"] = options.filter
        if options.max_time_ms is not None:
            document["maxTimeMS"] = options.max_time_ms
        if options.comment is not None:
            document["comment"] = options.comment
        if options.hint is not None:
            document["hint"] = options.hint
        if options.collation is not None:
            document["collation"] = options.collation
        if scope.read_concern is not None:
            document["readConcern"] = scope.read_concern
        executor = self._collection.__geomongo__.executor
        values: list[Any] = executor.execute(ValueCommand(scope, document, "values", scope.read_preference, RETRY_READ),
                                             options.session)
        return values

    def rewind(self) -> Cursor[DocumentType]:
        """Back to before the first document; the query runs again."""
        self._core.close()
        self._new_core()
        return self

    def clone(self) -> Cursor[DocumentType]:
        """A cursor with the same options that was not read from yet."""
        return self._copy(self._options.copied())

    def _copy(self, options: FindOptions) -> Cursor[DocumentType]:
        clone = self.__class__.__new__(self.__class__)
        clone._collection = self._collection
        clone._options = options
        clone._new_core()
        return clone

    def __copy__(self) -> Cursor[DocumentType]:
        return self.clone()

    def __deepcopy__(self, memo: Any) -> Cursor[DocumentType]:
        options = self._options.copied()
        options.filter = copy.deepcopy(options.filter, memo)
        options.projection = copy.deepcopy(options.projection, memo)
        return self._copy(options)

    # -- state

    @property
    def cursor_id(self) -> Optional[int]:
        """The server's id of the cursor: None before it was opened, 0 once it is exhausted there."""
        return self._core.cursor_id

    @property
    def collection(self) -> Collection[DocumentType]:
        """The collection that is read."""
        return self._collection

    @property
    def retrieved(self) -> int:
        """How many documents were decoded so far."""
        return self._core.retrieved

    @property
    def session(self) -> Optional[ClientSession]:
        """The explicit session; None where there is none."""
        session: Optional[ClientSession] = self._options.session
        return session


class RawBatchCursor(Cursor[DocumentType]):
    """Yields each batch as the bytes of its documents, one after the other."""

    __slots__ = ()

    def __init__(self, collection: Collection[DocumentType], *args: Any, **kwargs: Any) -> None:
        super().__init__(collection, *args, **kwargs)

    def _is_raw(self) -> bool:
        return True

    def explain(self) -> Any:
        """How the server would run the query."""
        return super().explain()

    def __getitem__(self, index: Any) -> NoReturn:
        raise InvalidOperation("Cannot call __getitem__ on RawBatchCursor")
