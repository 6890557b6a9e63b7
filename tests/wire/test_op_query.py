"""OP_QUERY and OP_REPLY of the legacy hello."""
from __future__ import annotations

import struct

import bson
import pytest

from geomongo._wire import op_query
from geomongo.errors import ProtocolError
from tests.wire.messages import BODY, header, op_msg, op_reply


def test_the_request_byte_for_byte():
    hello = bytes.fromhex("13000000 10") + b"ismaster\0" + bytes.fromhex("01000000 00")
    assert op_query.request(5, {"ismaster": 1}) == (
        header(16 + 4 + 11 + 8 + len(hello), 5, 0, 2004)
        + bytes.fromhex("04000000") + b"admin.$cmd\0" + bytes.fromhex("00000000 ffffffff") + hello)


@pytest.mark.parametrize("flags", [0, 8, 10])
def test_the_reply(flags):
    assert op_query.reply_body(op_reply([BODY], flags), 7) == BODY


FAILURE = bson.encode({"$err": "no"})
REFUSED = {
    "empty": (b"", "too short for OP_REPLY"),
    "header alone": (header(16, opcode=1), "too short for OP_REPLY"),
    "OP_MSG": (op_msg(b"\0" + bson.encode({"a": "long enough"})), "opcode 2013 arrived where OP_REPLY"),
    "wrong request": (op_reply([BODY], response_to=6), "response to request 6"),
    "no document": (op_reply([]), "holds 0 documents"),
    "two documents": (op_reply([BODY, BODY]), "holds 2 documents"),
    "a negative number": (op_reply([BODY], returned=-1), "holds -1 documents"),
    "failure without a document": (op_reply([], 2, returned=1), "failure without a document"),
    "document cut off": (op_reply([BODY[:-1]]), "not as long as it says"),
    "two where one is announced": (op_reply([BODY, BODY], returned=1), "not as long as it says"),
    "no document where one is announced": (op_reply([], returned=1), "not as long as it says"),
    "longer than the header says": (op_reply([BODY]) + b"\0", "were received"),
    "document of negative length": (op_reply([struct.pack("<i", -9) + BODY[4:]]), "not as long as it says"),
}


@pytest.mark.parametrize(("reply", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_replies_that_are_refused(reply, text):
    with pytest.raises(ProtocolError, match=text):
        op_query.reply_body(reply, 7)


def test_a_failure_with_its_document_is_left_to_the_caller():
    assert bson.decode(op_query.reply_body(op_reply([FAILURE], 2), 7)) == {"$err": "no"}
