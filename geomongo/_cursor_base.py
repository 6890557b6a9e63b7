"""What the cursors of `find` and of commands have in common."""
from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Optional, TypeVar

from geomongo._execution.cursors import CursorCore
from geomongo._local import Local
from geomongo.typings import Address, DocumentType

Self = TypeVar("Self", bound="CursorBase[Any]")


class CursorBase(Local, Generic[DocumentType]):
    """A public cursor around its core. Documents come out of the core's deque as long as it has any."""

    __slots__ = ("_core", "_pop", "__weakref__")

    _core: CursorCore

    def _set_core(self, core: CursorCore) -> None:
        self._core = core
        self._pop = core.documents.popleft

    def _more(self) -> bool:
        """Have the next document brought; False at the end, or where there is none now."""
        raise NotImplementedError

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> DocumentType:
        try:
            document: DocumentType = self._pop()
        except IndexError:
            if not self._more():
                raise StopIteration from None
            document = self._pop()
        return document

    def next(self) -> DocumentType:
        """The next document. Raises StopIteration at the end, and what operations raise."""
        return self.__next__()

    def to_list(self, length: Optional[int] = None) -> list[DocumentType]:
        """The remaining documents, or the next `length` of them, as a list. Raises ValueError for length < 1."""
        if length is None:
            return list(self)
        if not isinstance(length, int) or length < 1:
            raise ValueError("to_list() length must be greater than 0")
        documents: list[DocumentType] = []
        for document in self:
            documents.append(document)
            if len(documents) == length:
                break
        return documents

    @property
    def alive(self) -> bool:
        """Whether there may be more documents; a tailable cursor is alive until the server ends it."""
        return self._core.alive

    @property
    def address(self) -> Optional[Address]:
        """The server that answered; None before."""
        return self._core.address

    def close(self) -> None:
        """End the cursor at the server, too. Errors of the connection do not matter."""
        self._core.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, exc_type: Optional[type[BaseException]], exc_val: Optional[BaseException],
                 exc_tb: Optional[TracebackType]) -> None:
        if exc_type is None or issubclass(exc_type, Exception):
            self._core.close()
        else:
            self._core.abandon()  # a greenlet that is being killed does not wait for the server's word

    def __del__(self) -> None:
        core = getattr(self, "_core", None)  # a constructor that raised has made none
        if core is not None:
            core.abandon()
