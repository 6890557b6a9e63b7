"""Collations: the rules of a language for comparing strings."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geomongo.checks import validate_boolean, validate_string

__all__ = [
    "Collation",
    "CollationAlternate",
    "CollationCaseFirst",
    "CollationMaxVariable",
    "CollationStrength",
    "validate_collation_or_none",
]


class CollationStrength:
    """Values of `strength`: which differences count."""

    PRIMARY = 1
    SECONDARY = 2
    TERTIARY = 3
    QUATERNARY = 4
    IDENTICAL = 5


class CollationAlternate:
    """Values of `alternate`: whether spaces and punctuation count."""

    NON_IGNORABLE = "non-ignorable"
    SHIFTED = "shifted"


class CollationMaxVariable:
    """Values of `maxVariable`: which characters `alternate="shifted"` ignores."""

    PUNCT = "punct"
    SPACE = "space"


class CollationCaseFirst:
    """Values of `caseFirst`: the order of upper and lower case."""

    UPPER = "upper"
    LOWER = "lower"
    OFF = "off"


def _validate_strength(option: str, value: Any) -> int:
    try:
        return int(value)
    except (ValueError, TypeError):
        raise ValueError(f"The value of {option} must be an integer") from None


class Collation:
    """A collation document (manual: "Collation Document"). Raises TypeError or ValueError for wrong values.

    Other keyword arguments go to the server as they are.
    """

    __slots__ = ("__document",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, locale: str, caseLevel: bool | None = None, caseFirst: str | None = None,
                 strength: int | None = None, numericOrdering: bool | None = None,
                 alternate: str | None = None, maxVariable: str | None = None,
                 normalization: bool | None = None, backwards: bool | None = None, **kwargs: Any) -> None:
        given = (
            ("caseLevel", caseLevel, validate_boolean),
            ("caseFirst", caseFirst, validate_string),
            ("strength", strength, _validate_strength),
            ("numericOrdering", numericOrdering, validate_boolean),
            ("alternate", alternate, validate_string),
            ("maxVariable", maxVariable, validate_string),
            ("normalization", normalization, validate_boolean),
            ("backwards", backwards, validate_boolean),
        )
        self.__document: dict[str, Any] = {"locale": validate_string("locale", locale)}
        for name, value, validate in given:
            if value is not None:
                self.__document[name] = validate(name, value)
        self.__document.update(kwargs)

    @property
    def document(self) -> dict[str, Any]:
        """The collation as the server takes it (a copy)."""
        return self.__document.copy()

    def __repr__(self) -> str:
        return "Collation({})".format(", ".join(f"{key}={value!r}" for key, value in self.__document.items()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Collation):
            return self.__document == other.document
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other


def validate_collation_or_none(value: Mapping[str, Any] | Collation | None) -> Mapping[str, Any] | None:
    """The document of a collation argument; TypeError if it is none."""
    if value is None:
        return None
    if isinstance(value, Collation):
        return value.document
    if isinstance(value, dict):
        return value
    raise TypeError("collation must be a dict, an instance of collation.Collation, or None")
