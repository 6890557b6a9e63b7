"""Read preferences: which members of a deployment may answer a read (server selection specification).

The choice itself is made in `geomongo._sdam`; these are the values that say what to choose.
"""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from geomongo.errors import ConfigurationError

__all__ = [
    "Nearest",
    "Primary",
    "PrimaryPreferred",
    "ReadPreference",
    "Secondary",
    "SecondaryPreferred",
    "ServerMode",
    "make_read_preference",
    "read_pref_mode_from_name",
]

PRIMARY, PRIMARY_PREFERRED, SECONDARY, SECONDARY_PREFERRED, NEAREST = range(5)
# The names by number, as the wire and connection strings spell them.
MODES = ("primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest")
NO_MAX_STALENESS = -1
MAX_STALENESS_WIRE_VERSION = 5

TagSets = Sequence[Mapping[str, Any]]
Hedge = Mapping[str, Any]


def _validate_tag_sets(tag_sets: TagSets | None) -> list[Mapping[str, Any]] | None:
    if tag_sets is None:
        return None
    if not isinstance(tag_sets, (list, tuple)):
        raise TypeError(f"Tag sets {tag_sets!r} invalid, must be a sequence")
    if not tag_sets:
        raise ValueError(f"Tag sets {tag_sets!r} invalid, must be None or contain at least one set of tags")
    for tags in tag_sets:
        if not isinstance(tags, Mapping):
            raise TypeError(f"Tag set {tags!r} invalid, must be a dict, a bson.son.SON or another Mapping")
    return list(tag_sets)


def _validate_max_staleness(max_staleness: Any) -> int:
    if max_staleness == NO_MAX_STALENESS:
        return NO_MAX_STALENESS
    message = f"maxStalenessSeconds must be a positive integer, not {max_staleness}"
    if not isinstance(max_staleness, int):
        raise TypeError(message)
    if max_staleness <= 0:
        raise ValueError(message)
    return max_staleness


def _validate_hedge(hedge: Hedge | None) -> Hedge | None:
    if hedge is None:
        return None
    if not isinstance(hedge, dict):
        raise TypeError(f"hedge must be a dictionary, not {hedge!r}")
    warnings.warn("the read preference option 'hedge' is deprecated, as are hedged reads from MongoDB 8.0 on",
                  DeprecationWarning, stacklevel=4)
    return hedge


class ServerMode:
    """What all read preferences have in common.

    `tag_sets` are tried in order, a member must have all tags of one of them. `max_staleness` is in seconds,
    -1 for no bound. `hedge` is deprecated. Raises TypeError or ValueError for wrong values.
    """

    __slots__ = ("__mode", "__mongos_mode", "__tag_sets", "__max_staleness", "__hedge", "__document")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, mode: int, tag_sets: TagSets | None = None, max_staleness: int = NO_MAX_STALENESS,
                 hedge: Hedge | None = None) -> None:
        self.__mongos_mode = MODES[mode]
        self.__mode = mode
        self.__tag_sets = _validate_tag_sets(tag_sets)
        self.__max_staleness = _validate_max_staleness(max_staleness)
        self.__hedge = _validate_hedge(hedge)
        self.__document = self.__make_document()

    def __make_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"mode": self.__mongos_mode}
        if self.__tag_sets not in (None, [{}]):
            document["tags"] = self.__tag_sets
        if self.__max_staleness != NO_MAX_STALENESS:
            document["maxStalenessSeconds"] = self.__max_staleness
        if self.__hedge:
            document["hedge"] = self.__hedge
        return document

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def mongos_mode(self) -> str:
        """The mode as `$readPreference` spells it."""
        return self.__mongos_mode

    @property
    def document(self) -> dict[str, Any]:
        """The `$readPreference` document (a copy)."""
        return self.__document.copy()

    @property
    def mode(self) -> int:
        """The mode's number."""
        return self.__mode

    @property
    def tag_sets(self) -> list[Mapping[str, Any]]:
        """The tag sets to try in order; `[{}]` means any member."""
        return list(self.__tag_sets) if self.__tag_sets else [{}]

    @property
    def max_staleness(self) -> int:
        """The greatest lag in seconds of a secondary, or -1 for no bound."""
        return self.__max_staleness

    @property
    def hedge(self) -> Hedge | None:
        return self.__hedge

    @property
    def min_wire_version(self) -> int:
        """The lowest wire version whose servers understand this preference."""
        return MAX_STALENESS_WIRE_VERSION if self.__max_staleness != NO_MAX_STALENESS else 0

    def __repr__(self) -> str:
        return (f"{self.name}(tag_sets={self.__tag_sets!r}, max_staleness={self.__max_staleness!r}, "
                f"hedge={self.__hedge!r})")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ServerMode):
            return (self.mode, self.tag_sets, self.max_staleness, self.hedge) \
                == (other.mode, other.tag_sets, other.max_staleness, other.hedge)
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __getstate__(self) -> dict[str, Any]:
        return {"mode": self.__mode, "tag_sets": self.__tag_sets, "max_staleness": self.__max_staleness,
                "hedge": self.__hedge}

    def __setstate__(self, value: Mapping[str, Any]) -> None:
        self.__mode = value["mode"]
        self.__mongos_mode = MODES[self.__mode]
        self.__tag_sets = value["tag_sets"]
        self.__max_staleness = value["max_staleness"]
        self.__hedge = value["hedge"]
        self.__document = self.__make_document()


_ServerMode = ServerMode  # the name in PyMongo's type hints


class Primary(ServerMode):
    """Read from the primary only."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(PRIMARY)

    def __repr__(self) -> str:
        return "Primary()"


class PrimaryPreferred(ServerMode):
    """Read from the primary, or from a secondary while there is none."""

    __slots__ = ()

    def __init__(self, tag_sets: TagSets | None = None, max_staleness: int = NO_MAX_STALENESS,
                 hedge: Hedge | None = None) -> None:
        super().__init__(PRIMARY_PREFERRED, tag_sets, max_staleness, hedge)


class Secondary(ServerMode):
    """Read from secondaries only."""

    __slots__ = ()

    def __init__(self, tag_sets: TagSets | None = None, max_staleness: int = NO_MAX_STALENESS,
                 hedge: Hedge | None = None) -> None:
        super().__init__(SECONDARY, tag_sets, max_staleness, hedge)


class SecondaryPreferred(ServerMode):
    """Read from secondaries, or from the primary while there are none."""

    __slots__ = ()

    def __init__(self, tag_sets: TagSets | None = None, max_staleness: int = NO_MAX_STALENESS,
                 hedge: Hedge | None = None) -> None:
        super().__init__(SECONDARY_PREFERRED, tag_sets, max_staleness, hedge)


class Nearest(ServerMode):
    """Read from any member within the latency window."""

    __slots__ = ()

    def __init__(self, tag_sets: TagSets | None = None, max_staleness: int = NO_MAX_STALENESS,
                 hedge: Hedge | None = None) -> None:
        super().__init__(NEAREST, tag_sets, max_staleness, hedge)


class ReadPreference:
    """The five modes without tags or bounds."""

    PRIMARY = Primary()
    PRIMARY_PREFERRED = PrimaryPreferred()
    SECONDARY = Secondary()
    SECONDARY_PREFERRED = SecondaryPreferred()
    NEAREST = Nearest()


_BY_MODE = (PrimaryPreferred, Secondary, SecondaryPreferred, Nearest)


def make_read_preference(mode: int, tag_sets: TagSets | None,
                         max_staleness: int = NO_MAX_STALENESS) -> ServerMode:
    """The read preference of a mode number. Raises ConfigurationError for a primary with tags or a bound."""
    if mode == PRIMARY:
        if tag_sets not in (None, [{}]):
            raise ConfigurationError("Read preference primary cannot be combined with tags")
        if max_staleness != NO_MAX_STALENESS:
            raise ConfigurationError("Read preference primary cannot be combined with maxStalenessSeconds")
        return Primary()
    return _BY_MODE[mode - 1](tag_sets, max_staleness)


def read_pref_mode_from_name(name: str) -> int:
    """The number of a mode spelt as in connection strings; ValueError if there is none."""
    return MODES.index(name)
