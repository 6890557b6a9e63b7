"""Which names databases and collections may have. Raises TypeError and InvalidName, before a byte is sent."""
from __future__ import annotations

from typing import Any

from geomongo.errors import InvalidName

_FORBIDDEN_IN_DATABASES = ' ."$/\\\x00'


def check_string(name: str, value: Any) -> str:
    """TypeError unless `value` is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be an instance of str, not {type(value)}")
    return value


def check_database_name(name: Any) -> str:
    """A database's name; $external may be used, but not created."""
    check_string("name", name)
    if not name:
        raise InvalidName("database name cannot be the empty string")
    for character in _FORBIDDEN_IN_DATABASES:
        if character in name and name != "$external":
            raise InvalidName(f"database names cannot contain the character {character!r}")
    return str(name)


def check_collection_name(name: Any, label: str = "name") -> str:
    """A collection's name."""
    check_string(label, name)
    if not name or ".." in name:
        raise InvalidName("collection names cannot be empty")
    if "$" in name and not name.startswith(("oplog.$main", "$cmd")):
        raise InvalidName(f"collection names must not contain '$': {name!r}")
    if name[0] == "." or name[-1] == ".":
        raise InvalidName(f"collection names must not start or end with '.': {name!r}")
    if "\x00" in name:
        raise InvalidName("collection names must not contain the null character")
    return str(name)
