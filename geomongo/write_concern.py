"""Write concerns: what a server must have done before it acknowledges a write."""
from __future__ import annotations

from typing import Any

from geomongo.checks import validate_boolean
from geomongo.errors import ConfigurationError

__all__ = ["DEFAULT_WRITE_CONCERN", "WriteConcern", "validate_boolean"]


def _validate_wtimeout(wtimeout: Any) -> int:
    if not isinstance(wtimeout, int):
        raise TypeError(f"wtimeout must be an integer, not {type(wtimeout)}")
    if wtimeout < 0:
        raise ValueError("wtimeout cannot be less than 0")
    return wtimeout


def _validate_w(w: Any) -> int | str:
    if not isinstance(w, (int, str)):
        raise TypeError(f"w must be an integer or string, not {type(w)}")
    if isinstance(w, int) and w < 0:
        raise ValueError("w cannot be less than 0")
    return w


class WriteConcern:
    """A write concern; without arguments, the server's default.

    `w` is a number of members, "majority" or a tag set's name; 0 asks for no acknowledgement. `wtimeout` is
    in milliseconds. `j` waits for the journal, `fsync` is its predecessor. Raises TypeError or ValueError for
    wrong values, ConfigurationError for a contradiction.
    """

    __slots__ = ("__document", "__acknowledged", "__server_default")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, w: int | str | None = None, wtimeout: int | None = None, j: bool | None = None,
                 fsync: bool | None = None) -> None:
        document: dict[str, Any] = {}
        if wtimeout is not None:
            document["wtimeout"] = _validate_wtimeout(wtimeout)
        if j is not None:
            document["j"] = validate_boolean("j", j)
        if fsync is not None:
            document["fsync"] = validate_boolean("fsync", fsync)
            if j and fsync:
                raise ConfigurationError("Can't set both j and fsync at the same time")
        if w == 0 and j:
            raise ConfigurationError("Cannot set w to 0 and j to True")
        if w is not None:
            document["w"] = _validate_w(w)
        self.__document = document
        self.__acknowledged = w != 0
        self.__server_default = not document

    @property
    def is_server_default(self) -> bool:
        """Whether nothing is set, so that nothing is sent."""
        return self.__server_default

    @property
    def document(self) -> dict[str, Any]:
        """The write concern as the server takes it (a copy)."""
        return self.__document.copy()

    @property
    def acknowledged(self) -> bool:
        """False for `w=0`: the server does not answer."""
        return self.__acknowledged

    def __repr__(self) -> str:
        return "WriteConcern({})".format(
            ", ".join(f"{key}={value!r}" for key, value in self.__document.items()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WriteConcern):
            return self.__document == other.document
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other


DEFAULT_WRITE_CONCERN = WriteConcern()
