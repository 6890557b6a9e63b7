"""Read concerns: how isolated and how durable the data is that a read returns."""
from __future__ import annotations

from typing import Any

__all__ = ["DEFAULT_READ_CONCERN", "ReadConcern"]


class ReadConcern:
    """A read concern level, or the server's default (None). Raises TypeError for other types.

    `level` is one of "local", "available", "majority", "linearizable", "snapshot"; others are for the server
    to refuse.
    """

    __slots__ = ("__level",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, level: str | None = None) -> None:
        if level is not None and not isinstance(level, str):
            raise TypeError(f"level must be a string or None, not {type(level)}")
        self.__level = level

    @property
    def level(self) -> str | None:
        return self.__level

    @property
    def ok_for_legacy(self) -> bool:
        """Whether the level means what servers older than 3.2 do anyway."""
        return self.__level is None or self.__level == "local"

    @property
    def document(self) -> dict[str, Any]:
        """The read concern as the server takes it; empty for the server's default."""
        return {"level": self.__level} if self.__level else {}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReadConcern):
            return self.document == other.document
        return NotImplemented

    def __repr__(self) -> str:
        return f"ReadConcern({self.__level})" if self.__level else "ReadConcern()"


DEFAULT_READ_CONCERN = ReadConcern()
