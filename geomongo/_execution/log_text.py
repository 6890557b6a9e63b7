"""Documents as the text of log messages: extended JSON, cut to a length without writing out what is cut off.

Source: specifications/source/logging/logging.md, "Truncation of large documents"; extended-json.md, "Relaxed".
"""
from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Optional

from bson import json_util
from bson.binary import UuidRepresentation


def longest_of(setting: Optional[str]) -> int:
    """What the environment asks for: a number of characters, or "unlimited"; 1000 for anything else."""
    if setting is not None and setting.lower() == "unlimited":
        return sys.maxsize
    return int(setting) if setting and setting.isdecimal() else 1000


#: Documents are cut to this many characters.
LONGEST = longest_of(os.environ.get("MONGOB_LOG_MAX_DOCUMENT_LENGTH"))
_OPTIONS = json_util.RELAXED_JSON_OPTIONS.with_options(uuid_representation=UuidRepresentation.STANDARD)


def as_json(document: Mapping[str, Any]) -> str:
    """All of `document`. Whatever an application's codecs make of a value has a text, too."""
    return json_util.dumps(_Copy(float("inf")).of(document), json_options=_OPTIONS)


def shortened(document: Mapping[str, Any], longest: int = LONGEST) -> str:
    """The begin of `document`, and dots where there is more."""
    text = json_util.dumps(_Copy(longest).of(document), json_options=_OPTIONS)
    return text if len(text) <= longest else text[:longest] + "..."


class _Copy:
    """Copies what goes into the first `room` characters, and a little more.

    Each value is counted with no more characters than it takes, so what is left out would not have been shown.
    """

    def __init__(self, room: float) -> None:
        self._room = room

    def of(self, value: Any) -> Any:
        """The copy of `value`."""
        if isinstance(value, Mapping):
            return self._of_document(value)
        if isinstance(value, (list, tuple)):
            return self._of_array(value)
        if isinstance(value, str):
            self._room -= len(value) + 2
            return value if self._room >= 0 else value[:int(self._room) + len(value) + 3]
        self._room -= 1
        return _plain(value)

    def _of_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for name, value in document.items():
            if self._room < 0:
                break
            self._room -= len(name) + 4
            copy[name] = self.of(value)
        return copy

    def _of_array(self, array: Any) -> list[Any]:
        copy: list[Any] = []
        for value in array:
            if self._room < 0:
                break
            copy.append(self.of(value))
        return copy


def _plain(value: Any) -> Any:
    try:
        return json_util.default(value, _OPTIONS)
    except (TypeError, ValueError):
        return str(value)
