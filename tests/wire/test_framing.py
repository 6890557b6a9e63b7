"""The message header: what is accepted, and what each refusal says."""
from __future__ import annotations

import struct

import pytest

from geomongo._wire import framing
from geomongo.errors import ProtocolError
from tests.wire.messages import header

LIMIT = 1000


@pytest.mark.parametrize("length", [16, 17, 999, 1000])
def test_possible_lengths_are_returned(length):
    assert framing.message_length(struct.pack("<i", length), LIMIT) == length
    assert framing.message_length(header(length), LIMIT) == length


@pytest.mark.parametrize(("length", "text"), [
    (0, "message length 0 is shorter than the 16-byte message header"),
    (15, "message length 15 is shorter"),
    (-1, "message length -1 is shorter"),
    (-2**31, "message length -2147483648 is shorter"),
    (1001, "message length 1001 is larger than the server's maxMessageSizeBytes 1000"),
    (2**31 - 1, "message length 2147483647 is larger"),
    (int.from_bytes(b"HTTP", "little"), "is this a MongoDB server, and is TLS configured alike"),
])
def test_impossible_lengths_are_refused(length, text):
    with pytest.raises(ProtocolError, match=text):
        framing.message_length(struct.pack("<i", length), LIMIT)


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_a_header_that_answers_the_request(buffer):
    assert framing.check_header(buffer(header(18) + b"xx"), 7) == framing.OP_MSG


@pytest.mark.parametrize(("message", "text"), [
    (header(17), "header says 17 bytes, 16 were received"),
    (header(16) + b"x", "header says 16 bytes, 17 were received"),
    (header(-5), "header says -5 bytes, 16 were received"),
    (header(16, response_to=8), "response to request 8 arrived where one to request 7 was due"),
    (header(16, response_to=0), "response to request 0 arrived where one to request 7 was due"),
])
def test_a_header_that_does_not(message, text):
    with pytest.raises(ProtocolError, match=text):
        framing.check_header(message, 7)


def test_headers_are_packed_as_they_are_read():
    packed = framing.pack_header(36, 1, -2, 2004)
    assert packed == bytes.fromhex("24000000 01000000 feffffff d4070000")
    assert framing.unpack_header(packed) == (36, 1, -2, 2004)
