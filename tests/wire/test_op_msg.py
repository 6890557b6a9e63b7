"""OP_MSG in both directions, as tables of bytes and values."""
from __future__ import annotations

import struct

import bson
import pytest
from bson.codec_options import CodecOptions

from geomongo._wire import op_msg
from geomongo.errors import ProtocolError
from tests.wire.messages import BODY, body, header
from tests.wire.messages import op_msg as message
from tests.wire.messages import sequence

OPTIONS = CodecOptions()
ONE, TWO = bson.encode({"_id": 1}), bson.encode({"_id": 2})
# {"ping": 1} as BSON
PING = bytes.fromhex("0f000000 10 70696e6700 01000000 00")


# -- requests

@pytest.mark.parametrize(("flags", "flag_bytes"), [
    (0, "00000000"), (op_msg.MORE_TO_COME, "02000000"), (op_msg.EXHAUST_ALLOWED, "00000100")])
def test_a_request_of_one_body(flags, flag_bytes):
    made = op_msg.request(258, {"ping": 1}, OPTIONS, flags)
    assert made == bytes.fromhex("24000000 02010000 00000000 dd070000" + flag_bytes + "00") + PING


def test_a_request_with_a_sequence():
    made = op_msg.request_with_sequence(1, {"ping": 1}, OPTIONS, "documents", [ONE, TWO], 2)
    section = sequence(b"documents", ONE, TWO)
    assert made == (header(16 + 4 + 1 + len(PING) + len(section), 1, 0) + bytes.fromhex("02000000 00") + PING
                    + section)
    assert len(section) == op_msg.SEQUENCE_OVERHEAD + len(b"documents") + len(ONE) + len(TWO)


@pytest.mark.parametrize("documents", [[], [ONE], [ONE, TWO, ONE]])
def test_a_request_is_read_back(documents):
    made = op_msg.request_with_sequence(1, {"insert": "c"}, OPTIONS, "documents", documents)
    reply = op_msg.parse(answering(made, 1), 1)
    assert bson.decode(bytes(reply.body)) == {"insert": "c"}
    assert reply.sequences == {"documents": b"".join(documents)}
    assert reply.flags == 0


def answering(request: bytes, request_id: int) -> bytes:
    """`request`, as if it were the answer to `request_id`."""
    return request[:8] + struct.pack("<i", request_id) + request[12:]


# -- replies

@pytest.mark.parametrize(("reply", "flags", "sequences"), [
    (message(body()), 0, {}),
    (message(body(), flags=op_msg.MORE_TO_COME), 2, {}),
    (message(body(), flags=op_msg.EXHAUST_ALLOWED), 1 << 16, {}),
    (message(body(), flags=0xFFFF0000), 0xFFFF0000, {}),
    (message(body(), flags=0xFFFF0002), 0xFFFF0002, {}),
    (message(body(), sequence(b"a", ONE, TWO)), 0, {"a": ONE + TWO}),
    (message(sequence(b"a", ONE), body()), 0, {"a": ONE}),
    (message(sequence(b"a", ONE), body(), sequence(b"b")), 0, {"a": ONE, "b": b""}),
    (message(body(), sequence("größe".encode(), ONE)), 0, {"größe": ONE}),
    (message(body(), sequence(b"", ONE)), 0, {"": ONE}),
])
def test_replies_that_are_legal(reply, flags, sequences):
    for buffer in (bytes, bytearray):
        parsed = op_msg.parse(buffer(reply), 7)
        assert (parsed.flags, bytes(parsed.body), parsed.sequences) == (flags, BODY, sequences)
        assert parsed.more_to_come is bool(flags & 2)
        assert bytes(op_msg.reply_body(buffer(reply), 7)) == BODY


SHORT = "is too short for OP_MSG"
CUT_OFF = "an OP_MSG section is cut off"
CLAIMS = "an OP_MSG section claims"
REFUSED = {
    "empty": (b"", SHORT),
    "half a header": (header(16)[:8], SHORT),
    "no flags": (header(16), SHORT),
    "no section": (message(), SHORT),
    "one byte of a section": (message(b"\0"), CUT_OFF),
    "checksum": (message(body(), b"\x01\x02\x03\x04", flags=1), "checksumPresent .* did not ask for"),
    "unknown required bit": (message(body(), flags=1 << 2), "unknown required flag bits 0x0004"),
    "unknown required bits": (message(body(), flags=0xFFFE), "unknown required flag bits 0xfffc"),
    "two bodies": (message(body(), body()), "two body sections"),
    "no body": (message(sequence(b"a", ONE)), "without a body section"),
    "kind 2": (message(body(), b"\2" + ONE), "unknown kind 2"),
    "kind 255": (message(b"\xff" + ONE), "unknown kind 255"),
    "duplicate identifiers": (message(body(), sequence(b"a"), sequence(b"a")), "two document sequences named 'a'"),
    "identifier not UTF-8": (message(body(), sequence(b"\xff\xfe", ONE)), "is not UTF-8"),
    "identifier without end": (message(body(), b"\1" + struct.pack("<i", 7) + b"abc"), "has no end"),
    "body cut off": (message(body()[:-1]), CLAIMS),
    "body too long": (message(body() + b"\0"), CUT_OFF),
    "body of negative length": (message(b"\0" + struct.pack("<i", -1) + BODY[4:]), f"{CLAIMS} -1 bytes"),
    "body of length 4": (message(b"\0" + struct.pack("<i", 4) + BODY[4:]), f"{CLAIMS} 4 bytes"),
    "body of huge length": (message(b"\0" + struct.pack("<i", 2**31 - 1) + BODY[4:]), f"{CLAIMS} 2147483647"),
    "sequence cut off": (message(body(), sequence(b"a", ONE)[:-1]), CLAIMS),
    "sequence without size": (message(body(), b"\1\x05\0"), CUT_OFF),
    "wrong request": (message(body(), response_to=8), "response to request 8"),
    "OP_REPLY": (message(body(), opcode=1), "opcode 1 arrived where OP_MSG"),
    "OP_COMPRESSED": (message(body(), opcode=2012), "opcode 2012 arrived where OP_MSG"),
    "longer than it says": (message(body()) + b"\0", "were received"),
    "shorter than it says": (message(body())[:-1], "were received"),
}


@pytest.mark.parametrize(("reply", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_replies_that_are_refused(reply, text):
    with pytest.raises(ProtocolError, match=text):
        op_msg.parse(reply, 7)
    with pytest.raises(ProtocolError, match=text):
        op_msg.reply_body(reply, 7)


def test_a_large_body_is_not_copied():
    large = bson.encode({"x": b"x" * 70_000})
    reply = message(body(large))
    found = op_msg.reply_body(reply, 7)
    assert isinstance(found, memoryview)
    assert found.obj is reply
    assert found == large
