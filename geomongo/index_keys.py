"""Index specifications: `"a"`, `["a", ("b", -1)]`, `{"a": 1}`, and the names of indexes made from them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from geomongo.constants import ASCENDING

IndexKeyHint = str | Sequence[str | tuple[str, int | str | Mapping[str, Any]]] | Mapping[str, Any]
IndexList = Sequence[tuple[str, Any]]


def index_list(keys: Any, direction: int | str | None = None) -> IndexList:
    """The pairs of key and direction; with `direction`, `keys` must be one key name.

    Raises TypeError for what is no index specification.
    """
    if direction is not None:
        if not isinstance(keys, str):
            raise TypeError(f"Expected a string and a direction, not {type(keys)}")
        return [(keys, direction)]
    if isinstance(keys, str):
        return [(keys, ASCENDING)]
    if isinstance(keys, Mapping):
        return list(keys.items())
    if not isinstance(keys, (list, tuple)):
        raise TypeError("if no direction is specified, key_or_list must be an instance of list, "
                        f"not {type(keys)}")
    return [(key, ASCENDING) if isinstance(key, str) else key for key in keys]


def index_document(keys: Any) -> dict[str, Any]:
    """The key document `{name: direction}` of an index list or of a hint.

    Raises TypeError for wrong types and ValueError for an empty specification.
    """
    if not isinstance(keys, (list, tuple, Mapping)):
        raise TypeError(f"must use a dictionary or a list of (key, direction) pairs, not: {keys!r}")
    if not keys:
        raise ValueError("key_or_list must not be empty")
    document: dict[str, Any] = {}
    for item in keys.items() if isinstance(keys, Mapping) else keys:
        key, direction = (item, ASCENDING) if isinstance(item, str) else item
        _check_pair(key, direction)
        document[key] = direction
    return document


def _check_pair(key: Any, direction: Any) -> None:
    if not isinstance(key, str):
        raise TypeError(f"first item in each key pair must be an instance of str, not {type(key)}")
    if not isinstance(direction, (str, int, Mapping)):
        raise TypeError("second item in each key pair must be 1, -1, '2d' or another index specifier, "
                        f"not {type(direction)}")


def index_name(keys: IndexList) -> str:
    """The default name of an index: its keys and directions joined by underscores."""
    return "_".join("{}_{}".format(*pair) for pair in keys)


def normalised_hint(hint: Any) -> str | dict[str, Any] | None:
    """A hint as the server takes it: an index name or a key document."""
    if hint is None or isinstance(hint, str):
        return hint
    return index_document(hint)
