"""OP_QUERY and OP_REPLY, for the legacy hello that opens a connection and for nothing else.

Source: specifications/source/mongodb-handshake/handshake.md, "Connection handshake".
"""
from __future__ import annotations

import struct

from geomongo._bson import DEFAULT_OPTIONS, Buffer, Document, encode
from geomongo._wire.framing import HEADER_SIZE, OP_QUERY, OP_REPLY, check_header, pack_header, unpack_length
from geomongo.errors import ProtocolError

SECONDARY_OK = 1 << 2
_COLLECTION = b"admin.$cmd\0"
_REPLY = struct.Struct("<iqii")  # flags, cursor id, starting from, number returned
_QUERY_FAILURE = 1 << 1
_BODY_OFFSET = HEADER_SIZE + _REPLY.size


def request(request_id: int, document: Document) -> bytes:
    """A command against the admin database as an OP_QUERY."""
    body = encode(document, False, DEFAULT_OPTIONS)
    query = struct.pack("<i", SECONDARY_OK) + _COLLECTION + struct.pack("<ii", 0, -1) + body
    return pack_header(HEADER_SIZE + len(query), request_id, 0, OP_QUERY) + query


def reply_body(message: Buffer, request_id: int) -> bytes:
    """The one encoded document of an OP_REPLY. Raises ProtocolError for anything else."""
    if len(message) < _BODY_OFFSET:
        raise ProtocolError(f"a reply of {len(message)} bytes is too short for OP_REPLY")
    opcode = check_header(message, request_id)
    if opcode != OP_REPLY:
        raise ProtocolError(f"opcode {opcode} arrived where OP_REPLY ({OP_REPLY}) was due")
    flags, _, _, returned = _REPLY.unpack_from(message, HEADER_SIZE)
    if returned != 1:
        raise ProtocolError(f"an OP_REPLY to a command holds {returned} documents instead of one")
    if flags & _QUERY_FAILURE and len(message) == _BODY_OFFSET:
        raise ProtocolError("an OP_REPLY reports a failure without a document")
    body = bytes(message[_BODY_OFFSET:])
    if len(body) < 5 or unpack_length(body)[0] != len(body):
        raise ProtocolError("the document of an OP_REPLY is not as long as it says")
    return body
