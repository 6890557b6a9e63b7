"""The cursor of commands: aggregate, listCollections, listIndexes and others."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Optional

from geomongo._cursor_base import CursorBase
from geomongo._execution.cursors import CursorCore
from geomongo.errors import InvalidOperation
from geomongo.typings import Address, DocumentType

if TYPE_CHECKING:
    from geomongo.client_session import ClientSession

__all__ = ["CommandCursor", "RawBatchCommandCursor"]


class CommandCursor(CursorBase[DocumentType]):
    """Iterates over the documents of a command's reply. Use it from one greenlet at a time."""

    __slots__ = ("_client", "_session")

    def __init__(self, collection: Any, cursor_info: Mapping[str, Any], address: Optional[Address],
                 batch_size: int = 0, max_await_time_ms: Optional[int] = None,
                 session: Optional[ClientSession] = None, comment: Any = None) -> None:
        inside = collection.__geomongo__
        core = CursorCore(inside.executor, inside.scope, session, batch_size)
        core.adopt(cursor_info, address)
        core.max_await_time_ms = max_await_time_ms
        core.comment = comment
        self._set(core, session, inside.client)

    def _set(self, core: CursorCore, session: Optional[ClientSession], client: Any) -> None:
        self._session = session
        self._client = client  # a client that nobody holds is closed
        self._set_core(core)

    def _more(self) -> bool:
        core = self._core
        while not core.fetch():
            if not core.alive:
                return False
        return True

    def try_next(self) -> Optional[DocumentType]:
        """The next document, or None where at most one round trip brought nothing."""
        if not self._core.documents:
            self._core.fetch()
        return self._pop() if self._core.documents else None

    def batch_size(self, batch_size: int) -> CommandCursor[DocumentType]:
        """How many documents a further reply brings at most; 0 leaves it to the server.

        Raises TypeError, ValueError.
       """
        if not isinstance(batch_size, int):
            raise TypeError(f"batch_size must be an integer, not {type(batch_size)}")
        if batch_size < 0:
            raise ValueError("batch_size must be >= 0")
        # With 1 a server would close the cursor after the first document.
        self._core.batch_size = 2 if batch_size == 1 else batch_size
        return self

    @property
    def cursor_id(self) -> int:
        """The server's id of the cursor; 0 once it is exhausted there."""
        return self._core.cursor_id or 0

    @property
    def session(self) -> Optional[ClientSession]:
        """The explicit session; None where there is none."""
        return self._session


class RawBatchCommandCursor(CommandCursor[DocumentType]):
    """Yields each batch as the bytes of its documents, one after the other."""

    __slots__ = ()

    def __getitem__(self, index: int) -> NoReturn:
        raise InvalidOperation("Cannot call __getitem__ on RawBatchCommandCursor")


def opened(core: CursorCore, session: Optional[ClientSession], client: Any) -> CommandCursor[Any]:
    """The public cursor of a command that was run."""
    kind = RawBatchCommandCursor if core.raw else CommandCursor
    cursor: CommandCursor[Any] = kind.__new__(kind)
    cursor._set(core, session, client)
    return cursor
