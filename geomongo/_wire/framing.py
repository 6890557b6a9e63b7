"""The 16-byte message header and its checks.

Nothing is allocated from a length before `message_length` has accepted it.
Source: MongoDB wire protocol, "Standard Message Header".
"""
from __future__ import annotations

import struct
from typing import Union

from geomongo.errors import ProtocolError

Buffer = Union[bytes, bytearray, memoryview]

OP_REPLY = 1
OP_QUERY = 2004
OP_COMPRESSED = 2012
OP_MSG = 2013

HEADER_SIZE = 16
#: What a server accepts until its hello reply says otherwise, in bytes.
DEFAULT_MAX_MESSAGE_SIZE = 48_000_000
MAX_REQUEST_ID = 0x7FFFFFFF

_HEADER = struct.Struct("<iiii")
_LENGTH = struct.Struct("<i")
pack_header = _HEADER.pack
unpack_header = _HEADER.unpack_from
unpack_length = _LENGTH.unpack_from


def message_length(prefix: Buffer, limit: int) -> int:
    """The whole length of the message that begins with `prefix` (at least four bytes), in bytes.

    Raises ProtocolError where it is shorter than a header or longer than `limit`.
    """
    length: int = unpack_length(prefix)[0]
    if length < HEADER_SIZE:
        raise ProtocolError(
            f"message length {length} is shorter than the {HEADER_SIZE}-byte message header; "
            "is this a MongoDB server, and is TLS configured alike on both sides?")
    if length > limit:
        raise ProtocolError(
            f"message length {length} is larger than the server's maxMessageSizeBytes {limit}; "
            "is this a MongoDB server, and is TLS configured alike on both sides?")
    return length


def check_header(message: Buffer, request_id: int) -> int:
    """Check that `message` is whole and answers `request_id`; return its opcode.

    Raises ProtocolError otherwise.
    """
    length, _, response_to, opcode = unpack_header(message)
    if length != len(message):
        raise ProtocolError(f"message header says {length} bytes, {len(message)} were received")
    if response_to != request_id:
        raise ProtocolError(f"response to request {response_to} arrived where one to request {request_id} was due")
    return int(opcode)
