"""Cut one element out of an encoded document without decoding it.

A reply to find may carry 16 MB of documents. The driver's own fields are decoded at once, with its own codec
options; the documents stay encoded until the application reads them, with its options. `extract` does the cut.
Source: the BSON specification, version 1.1.
"""
from __future__ import annotations

import re
import struct
from typing import NamedTuple

from bson.errors import InvalidBSON

from geomongo._bson import Buffer, array_to_stream
from geomongo._wire.framing import unpack_length
from geomongo.errors import ProtocolError

DOCUMENT = 0x03
ARRAY = 0x04
NULL = 0x0A
EMPTY_DOCUMENT = b"\x05\0\0\0\0"

# Element types whose value has a fixed size, in bytes.
_FIXED = {0x01: 8, 0x06: 0, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16,
          0x7F: 0, 0xFF: 0}
# Types whose value starts with its int32 length, and what to add to that length.
_PREFIXED = {0x02: 4, 0x03: 0, 0x04: 0, 0x05: 5, 0x0C: 16, 0x0D: 4, 0x0E: 4, 0x0F: 0}
_REGEX = 0x0B
_pack_length = struct.Struct("<i").pack
# A driver field's name is short; a longer search for its end would let a hostile reply cost time.
_LONGEST_NAME = 256


class Cut(NamedTuple):
    """The document without the element's value (an empty document stands in its place), and that value."""

    rest: bytes
    kind: int
    value: Buffer


def extract(body: Buffer, path: tuple[str, ...]) -> Cut | None:
    """Cut the value at `path` out of the encoded document `body`; None where there is no such document or array.

    Raises ProtocolError where `body` is not a well-formed document as far as it is walked.
    """
    view = memoryview(body)
    start, end = 0, len(view)
    lengths: list[int] = []
    kind = DOCUMENT
    for name in path:
        if kind != DOCUMENT:
            return None
        lengths.append(start)
        found = _find(view, start, end, name.encode())
        if found is None:
            return None
        kind, start, end = found
    if kind not in (DOCUMENT, ARRAY):
        return None
    return Cut(_without(view, start, end, lengths), kind, view[start:end])


def _without(view: memoryview, start: int, end: int, lengths: list[int]) -> bytes:
    rest = bytearray(view[:start])
    rest += EMPTY_DOCUMENT
    rest += view[end:]
    removed = end - start - len(EMPTY_DOCUMENT)
    for position in lengths:
        rest[position:position + 4] = _pack_length(unpack_length(rest, position)[0] - removed)
    return bytes(rest)


def _find(view: memoryview, start: int, end: int, name: bytes) -> tuple[int, int, int] | None:
    """Type, start and end of the value named `name` in the document view[start:end]."""
    if end - start < 5 or unpack_length(view, start)[0] != end - start:
        raise ProtocolError("a document in a reply is not as long as it says")
    position = start + 4
    last = end - 1
    while position < last:
        kind = view[position]
        head = bytes(view[position + 1:min(position + 1 + _LONGEST_NAME, last)])
        stop = head.find(b"\0")
        if stop < 0:
            raise ProtocolError("an element name in a reply has no end")
        value = position + 2 + stop
        after = value + _size(view, kind, value, last)
        if after > last:
            raise ProtocolError("an element in a reply reaches beyond its document")
        if head[:stop] == name:
            return kind, value, after
        position = after
    return None


def _size(view: memoryview, kind: int, position: int, last: int) -> int:
    """Length in bytes of the value of type `kind` at `position`."""
    fixed = _FIXED.get(kind)
    if fixed is not None:
        return fixed
    extra = _PREFIXED.get(kind)
    if extra is not None:
        if position + 4 > last:
            raise ProtocolError("an element in a reply is cut off")
        length: int = unpack_length(view, position)[0]
        if length < 0 or (kind in (DOCUMENT, ARRAY) and length < 5):
            raise ProtocolError(f"an element in a reply has the impossible length {length}")
        return length + extra
    if kind == _REGEX:
        options = _string_end(view, position, last)
        return _string_end(view, options, last) - position
    raise ProtocolError(f"unknown BSON type {kind:#04x} in a reply")


def _string_end(view: memoryview, position: int, last: int) -> int:
    """Where the NUL-terminated string at `position` ends, looked for piece by piece and never by a copy of the rest."""
    size = 64
    while position < last:
        piece = bytes(view[position:min(position + size, last)])
        stop = piece.find(b"\0")
        if stop >= 0:
            return position + stop + 1
        position += size
        size *= 2
    raise ProtocolError("a regular expression in a reply has no end")


# An element of an array of documents begins so: its type, its index in decimal, and a NUL.
_ELEMENT = re.compile(rb"\x03([0-9]{1,10})\x00")


class ArrayReader:
    """Cuts an encoded array of documents into streams of documents, of about so many bytes each.

    The next cut is guessed: the first place after `size` bytes that looks like the begin of an element. A document may
    hold such bytes too, so the guess is proved by converting what lies before it: that fails unless elements end
    exactly there. Where it fails, the elements are walked one by one.
    """

    __slots__ = ("_end", "_index", "_position", "_view")

    def __init__(self, array: Buffer) -> None:
        self._view = memoryview(array)
        self._position = 4
        self._end = len(self._view) - 1
        self._index = 0

    @property
    def exhausted(self) -> bool:
        """Whether everything was taken."""
        return self._position >= self._end

    def take(self, size: int) -> bytes:
        """The next documents, one after the other; at least one. Raises ProtocolError where the array is none."""
        position, index = self._guess(size)
        try:
            stream = array_to_stream(self._as_array(position))
        except InvalidBSON:
            position, index = self._walk(size)
            try:
                stream = array_to_stream(self._as_array(position))
            except InvalidBSON as error:
                raise ProtocolError(f"a batch in a reply is no array of documents: {error}") from error
        self._position, self._index = position, index
        return stream

    def _as_array(self, end: int) -> bytes:
        return b"".join((_pack_length(end - self._position + 5), self._view[self._position:end], b"\0"))

    def _guess(self, size: int) -> tuple[int, int]:
        start = self._position + size
        while start < self._end:
            found = _ELEMENT.search(self._view, start)
            if found is None:
                break
            index = int(found.group(1))
            if index > self._index:
                return found.start(), index
            start = found.start() + 1
        return self._end, self._index

    def _walk(self, size: int) -> tuple[int, int]:
        """The first true begin of an element after `size` bytes."""
        view, position, wanted, index = self._view, self._position, self._position + size, self._index
        while position < min(wanted, self._end):
            head = bytes(view[position:position + _LONGEST_NAME])
            stop = head.find(b"\0", 1)
            if head[0] != DOCUMENT or stop < 0 or position + stop + 5 > self._end:
                raise ProtocolError("a batch in a reply is no array of documents")
            length = unpack_length(view, position + stop + 1)[0]
            if not 5 <= length <= self._end - position - stop - 1:
                raise ProtocolError("a document in a batch is not as long as it says")
            position += stop + 1 + length
            index += 1
        return position, index
