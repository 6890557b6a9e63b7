"""OP_MSG, both ways.

A request is one body document (section kind 0) and at most one document sequence (kind 1) such as the documents
of an insert. A reply is a body; sequences in replies are legal and folded into the document under their name.
Source: specifications/source/message/OP_MSG.md.
"""
from __future__ import annotations

import struct
from typing import Iterator, NamedTuple, Union

from geomongo._bson import Buffer, Document, Options, encode
from geomongo._wire.framing import HEADER_SIZE, OP_MSG, check_header, unpack_length
from geomongo.errors import ProtocolError

CHECKSUM_PRESENT = 1
MORE_TO_COME = 1 << 1
EXHAUST_ALLOWED = 1 << 16

# The low 16 bits are required bits: an unknown one that is set must be refused.
_KNOWN_REQUIRED = CHECKSUM_PRESENT | MORE_TO_COME
_REQUIRED_MASK = 0xFFFF

_PREFIX = struct.Struct("<iiiiIB")  # header, flag bits, kind of the first section
_SEQUENCE = struct.Struct("<Bi")
_pack_prefix = _PREFIX.pack
_pack_sequence = _SEQUENCE.pack
_unpack_prefix = _PREFIX.unpack_from
BODY_OFFSET = _PREFIX.size
SEQUENCE_OVERHEAD = _SEQUENCE.size + 1  # kind, size and the NUL that ends the identifier


#: From this size on, in bytes, a request is sent in pieces of so many documents.
_LARGE = 1 << 18
_STRIDE = 256


class Reply(NamedTuple):
    """A received OP_MSG: its flag bits, its encoded body, and its document sequences by identifier."""

    flags: int
    body: Buffer
    sequences: dict[str, bytes]

    @property
    def more_to_come(self) -> bool:
        """Whether the server sends another reply unasked (exhaust)."""
        return bool(self.flags & MORE_TO_COME)


def request(request_id: int, document: Document, options: Options, flags: int = 0) -> bytes:
    """A request of one body document."""
    body = encode(document, False, options)
    return _pack_prefix(BODY_OFFSET + len(body), request_id, 0, OP_MSG, flags, 0) + body


def request_with_sequence(request_id: int, document: Document, options: Options, identifier: str,
                          documents: list[bytes], flags: int = 0) -> Union[bytes, Iterator[bytes]]:
    """A request of one body document and a sequence of encoded `documents` named `identifier`.

    A large one comes in pieces that are joined as they are sent.
    """
    body = encode(document, False, options)
    name = identifier.encode() + b"\0"
    size = 4 + len(name) + (len(documents[0]) if len(documents) == 1 else sum(map(len, documents)))
    head = b"".join((_pack_prefix(BODY_OFFSET + len(body) + 1 + size, request_id, 0, OP_MSG, flags, 0), body,
                     _pack_sequence(1, size), name))
    if size > _LARGE:
        return _pieces(head, documents)
    return head + (documents[0] if len(documents) == 1 else b"".join(documents))


def _pieces(head: bytes, documents: list[bytes]) -> Iterator[bytes]:
    yield head
    for start in range(0, len(documents), _STRIDE):
        yield b"".join(documents[start:start + _STRIDE])


def reply_body(message: bytes, request_id: int) -> Buffer:
    """The encoded body of the common reply: one body section, no flag set. Anything else goes to `parse`."""
    length, _, response_to, opcode, flags, kind = _unpack_prefix(message) if len(message) > BODY_OFFSET else (0,) * 6
    if length == len(message) and response_to == request_id and opcode == OP_MSG and flags == 0 and kind == 0:
        body = message[BODY_OFFSET:] if length < 65536 else memoryview(message)[BODY_OFFSET:]
        if unpack_length(body)[0] == len(body):
            return body
    return parse(message, request_id).body


def parse(message: Buffer, request_id: int) -> Reply:
    """Take a reply apart. Raises ProtocolError for anything that OP_MSG does not allow."""
    if len(message) < HEADER_SIZE + 5:
        raise ProtocolError(f"a reply of {len(message)} bytes is too short for OP_MSG")
    opcode = check_header(message, request_id)
    if opcode != OP_MSG:
        raise ProtocolError(f"opcode {opcode} arrived where OP_MSG ({OP_MSG}) was due")
    flags = int.from_bytes(message[HEADER_SIZE:HEADER_SIZE + 4], "little")
    check_flags(flags)
    body, sequences = _sections(memoryview(message), HEADER_SIZE + 4)
    return Reply(flags, body, sequences)


def check_flags(flags: int) -> None:
    """Refuse flag bits that geomongo did not negotiate."""
    if flags & CHECKSUM_PRESENT:
        raise ProtocolError("the server set the checksumPresent flag of OP_MSG, which the driver did not ask for")
    unknown = flags & _REQUIRED_MASK & ~_KNOWN_REQUIRED
    if unknown:
        raise ProtocolError(f"the server set unknown required flag bits {unknown:#06x} of OP_MSG")


def _sections(message: memoryview, position: int) -> tuple[Buffer, dict[str, bytes]]:
    body: Buffer | None = None
    sequences: dict[str, bytes] = {}
    while position < len(message):
        kind = message[position]
        size = _section_size(message, position + 1)
        section = message[position + 1:position + 1 + size]
        if kind == 0:
            if body is not None:
                raise ProtocolError("an OP_MSG with two body sections")
            body = section
        elif kind == 1:
            identifier, documents = _sequence(section)
            if identifier in sequences:
                raise ProtocolError(f"an OP_MSG with two document sequences named {identifier!r}")
            sequences[identifier] = documents
        else:
            raise ProtocolError(f"an OP_MSG section of unknown kind {kind}")
        position += 1 + size
    if body is None:
        raise ProtocolError("an OP_MSG without a body section")
    return body, sequences


def _section_size(message: memoryview, position: int) -> int:
    left = len(message) - position
    if left < 5:
        raise ProtocolError("an OP_MSG section is cut off")
    size: int = unpack_length(message, position)[0]
    if not 5 <= size <= left:
        raise ProtocolError(f"an OP_MSG section claims {size} bytes where {left} are left")
    return size


def _sequence(section: memoryview) -> tuple[str, bytes]:
    data = bytes(section)
    end = data.find(b"\0", 4)
    if end < 0:
        raise ProtocolError("the identifier of an OP_MSG document sequence has no end")
    try:
        return data[4:end].decode(), data[end + 1:]
    except UnicodeDecodeError as error:
        raise ProtocolError("the identifier of an OP_MSG document sequence is not UTF-8") from error
