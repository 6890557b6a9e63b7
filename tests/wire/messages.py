"""Bytes of messages, made by hand with struct so that the tables do not lean on what they test."""
from __future__ import annotations

import struct
from collections.abc import Iterable

import bson

OP_MSG = 2013
OP_REPLY = 1
BODY = bson.encode({"ok": 1.0})


def header(length: int, request_id: int = 9, response_to: int = 7, opcode: int = OP_MSG) -> bytes:
    """A message header."""
    return struct.pack("<iiii", length, request_id, response_to, opcode)


def body(document: bytes = BODY) -> bytes:
    """A section of kind 0."""
    return b"\0" + document


def sequence(identifier: bytes, *documents: bytes) -> bytes:
    """A section of kind 1."""
    content = identifier + b"\0" + b"".join(documents)
    return b"\1" + struct.pack("<i", 4 + len(content)) + content


def op_msg(*sections: bytes, flags: int = 0, response_to: int = 7, opcode: int = OP_MSG) -> bytes:
    """A whole OP_MSG of `sections`, whose header is right."""
    content = struct.pack("<I", flags) + b"".join(sections)
    return header(16 + len(content), response_to=response_to, opcode=opcode) + content


def op_reply(documents: Iterable[bytes], flags: int = 0, returned: int | None = None, response_to: int = 7,
             opcode: int = OP_REPLY) -> bytes:
    """A whole OP_REPLY, whose header is right."""
    encoded = list(documents)
    number = len(encoded) if returned is None else returned
    content = struct.pack("<iqii", flags, 0, 0, number) + b"".join(encoded)
    return header(16 + len(content), response_to=response_to, opcode=opcode) + content
