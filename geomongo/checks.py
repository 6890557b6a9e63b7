"""Shape checks of arguments: each raises the exception type that PyMongo raises, before any byte is sent."""
from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from bson.raw_bson import RawBSONDocument

MAPPING_TYPES = "a dict, a bson.son.SON or another Mapping"


def validate_boolean(option: str, value: Any) -> bool:
    """TypeError unless `value` is True or False."""
    if isinstance(value, bool):
        return value
    raise TypeError(f"{option} must be True or False, was: {option}={value}")


def validate_string(option: str, value: Any) -> str:
    """TypeError unless `value` is a str."""
    if isinstance(value, str):
        return value
    raise TypeError(f"Wrong type for {option}, value must be an instance of str, not {type(value)}")


def validate_is_mapping(option: str, value: Any) -> None:
    """TypeError unless `value` is a mapping."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{option} must be {MAPPING_TYPES}, not {type(value)}")


def validate_is_document_type(option: str, value: Any) -> None:
    """TypeError unless `value` can be stored: a mutable mapping or a raw document."""
    if not isinstance(value, (MutableMapping, RawBSONDocument)):
        raise TypeError(f"{option} must be a dict, a bson.son.SON, a bson.raw_bson.RawBSONDocument or "
                        f"another MutableMapping, not {type(value)}")


def validate_list(option: str, value: Any) -> list[Any]:
    """TypeError unless `value` is a list."""
    if not isinstance(value, list):
        raise TypeError(f"{option} must be a list, not {type(value)}")
    return value


def validate_list_or_none(option: str, value: Any) -> list[Any] | None:
    """TypeError unless `value` is a list or None."""
    return None if value is None else validate_list(option, value)


def validate_list_or_mapping(option: str, value: Any) -> None:
    """TypeError unless `value` is a list or a mapping."""
    if not isinstance(value, (list, Mapping)):
        raise TypeError(f"{option} must be a list or {MAPPING_TYPES}, not {type(value)}")


def validate_ok_for_replace(replacement: Mapping[str, Any]) -> None:
    """A replacement is a document without update operators: TypeError or ValueError."""
    validate_is_mapping("replacement", replacement)
    # A raw document need not be inflated to be refused: the server does that.
    if replacement and not isinstance(replacement, RawBSONDocument):
        if next(iter(replacement)).startswith("$"):
            raise ValueError("replacement can not include $ operators")


def validate_ok_for_update(update: Any) -> None:
    """An update is a pipeline or a document of update operators: TypeError or ValueError."""
    validate_list_or_mapping("update", update)
    if not update:
        raise ValueError("update cannot be empty")
    if not isinstance(update, (list, RawBSONDocument)) and not next(iter(update)).startswith("$"):
        raise ValueError("update only works with $ operators")
