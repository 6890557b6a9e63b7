"""Cutting encoded documents: every type is skipped over, and no length is believed."""
from __future__ import annotations

import struct
import time

import bson
import pytest
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.raw_bson import RawBSONDocument

from geomongo._wire.raw import ARRAY, DOCUMENT, EMPTY_DOCUMENT, extract, slice_end
from geomongo.errors import ProtocolError

DOCUMENTS = [{"_id": 1}, {"_id": 2, "x": "y"}]
VALUES = {
    "double": 1.5, "string": "text", "empty string": "", "document": {"cursor": {"firstBatch": [9]}},
    "array": [1, [2]], "binary": b"bytes", "uuid": Binary(b"x" * 16, 4), "empty binary": b"",
    "old binary": Binary(b"abc", 2), "object id": ObjectId(b"123456789012"), "true": True,
    "date": bson.datetime_ms.DatetimeMS(5), "null": None, "regex": Regex("a+", "im"), "empty regex": Regex("", ""),
    "dbref": DBRef("c", 5), "code": Code("f()"), "code with scope": Code("f()", {"x": 1}), "int32": 7,
    "timestamp": Timestamp(1, 2), "int64": Int64(7), "decimal": Decimal128("1.5"), "min": MinKey(), "max": MaxKey(),
}
# Types that bson reads and does not write: undefined, dbPointer, symbol.
OLD = {"undefined": (0x06, b""), "dbPointer": (0x0C, struct.pack("<i", 2) + b"c\0" + b"x" * 12),
       "symbol": (0x0E, struct.pack("<i", 4) + b"abc\0")}
PATH = ("cursor", "firstBatch")


def document(*elements: bytes) -> bytes:
    """An encoded document of encoded elements."""
    content = b"".join(elements)
    return struct.pack("<i", 5 + len(content)) + content + b"\0"


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_every_type_is_skipped_over(value):
    body = bson.encode({"v": value, "cursor": {"v": value, "firstBatch": DOCUMENTS, "w": value}, "w": value})
    cut = extract(body, PATH)
    assert cut.kind == ARRAY
    assert list(bson.decode(bytes(cut.value)).values()) == DOCUMENTS
    assert cut.rest == bson.encode({"v": value, "cursor": {"v": value, "firstBatch": [], "w": value}, "w": value})


@pytest.mark.parametrize(("kind", "value"), OLD.values(), ids=OLD.keys())
def test_types_of_old_servers_are_skipped_over(kind, value):
    inner = bson.encode({"x": 1})
    body = document(bytes([kind]) + b"old\0" + value, b"\x03value\0" + inner)
    cut = extract(body, ("value",))
    assert (cut.kind, bytes(cut.value)) == (DOCUMENT, inner)
    assert cut.rest == document(bytes([kind]) + b"old\0" + value, b"\x03value\0" + EMPTY_DOCUMENT)


@pytest.mark.parametrize("reply", [
    {}, {"ok": 1}, {"cursor": 1}, {"cursor": None}, {"cursor": {}}, {"cursor": {"firstBatch": 1}},
    {"cursor": [{"firstBatch": []}]}, {"cursor": {"firstBatchx": []}}, {"xcursor": {"firstBatch": []}},
    {"cursor": {"firstBatch": None}}, {"cursor": {"firstBatch": "text"}}])
def test_nothing_to_cut(reply):
    assert extract(bson.encode(reply), PATH) is None


def test_names_are_compared_whole_and_the_first_counts():
    body = document(b"\x04a\0" + EMPTY_DOCUMENT, b"\x04ab\0" + bson.encode({"0": 1}), b"\x04ab\0" + EMPTY_DOCUMENT)
    assert bytes(extract(body, ("ab",)).value) == bson.encode({"0": 1})


def test_the_value_is_not_copied():
    body = bson.encode({"cursor": {"firstBatch": DOCUMENTS}})
    assert extract(body, PATH).value.obj is body
    assert extract(memoryview(body), PATH).value.obj is body


GOOD = bson.encode({"a": 1})
HOSTILE = {
    "empty": b"", "four bytes": b"\4\0\0\0", "longer than it says": GOOD + b"\0", "shorter than it says": GOOD[:-1],
    "negative": struct.pack("<i", -1) + GOOD[4:],
    "name without end": document(b"\x10" + b"a" * 10),
    "long name": document(b"\x10" + b"a" * 5000 + b"\0" + b"\0" * 4),
    "unknown type": document(b"\x77a\0abcd"),
    "int32 cut off": document(b"\x10a\0\1"),
    "string without length": document(b"\x02a\0\1"),
    "string of negative length": document(b"\x02a\0" + struct.pack("<i", -5) + b"abc\0"),
    "string longer than the document": document(b"\x02a\0" + struct.pack("<i", 500) + b"abc\0"),
    "string of huge length": document(b"\x02a\0" + struct.pack("<i", 2**31 - 1) + b"abc\0"),
    "document of length 0": document(b"\x03a\0" + struct.pack("<i", 0) + b"\0"),
    "array of length 4": document(b"\x04a\0" + struct.pack("<i", 4) + b"\0"),
    "document of negative length": document(b"\x03a\0" + struct.pack("<i", -2**31) + b"\0"),
    "binary of negative length": document(b"\x05a\0" + struct.pack("<i", -9) + b"\0"),
    "regex with one end": document(b"\x0ba\0abc\0"),
    "regex without end": document(b"\x0ba\0abc"),
    "code with scope of negative length": document(b"\x0fa\0" + struct.pack("<i", -4) + b"\0"),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_documents(body):
    with pytest.raises(ProtocolError):
        extract(body, ("wanted",))


@pytest.mark.parametrize("body", [body for name, body in HOSTILE.items() if name != "longer than it says"],
                         ids=[name for name in HOSTILE if name != "longer than it says"])
def test_hostile_documents_within_a_document(body):
    with pytest.raises(ProtocolError):
        extract(document(b"\x03cursor\0" + body), PATH)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 191, 192, 193, 5000])
def test_regular_expressions_of_every_length(length):
    body = bson.encode({"v": Regex("a" * length, "imx"), "end": {"x": 1}})
    assert bytes(extract(body, ("end",)).value) == bson.encode({"x": 1})


def cost(count: int) -> float:
    """Processor seconds to walk over `count` regular expressions, the best of three."""
    many = bson.encode({str(number): Regex("a", "i") for number in range(count)} | {"end": {"x": 1}})
    times = []
    for _ in range(3):
        started = time.process_time()
        assert bytes(extract(many, ("end",)).value) == bson.encode({"x": 1})
        times.append(time.process_time() - started)
    return min(times)


def test_a_walk_does_not_cost_the_square_of_its_document():
    assert cost(80_000) < 40 * cost(8_000)


# -- slices of a batch

STREAM = [bson.encode({"n": number, "text": "x" * (number % 50)}) for number in range(100)]


@pytest.mark.parametrize("size", [1, 40, 100, 1000, 10**9])
def test_slices_are_whole_documents_and_nothing_is_lost(size):
    stream = b"".join(STREAM)
    position, found = 0, []
    while position < len(stream):
        end, count = slice_end(stream, position, size)
        documents = bson.decode_all(stream[position:end])
        assert len(documents) == count >= 1
        assert count == 1 or end - position - len(STREAM[0]) < size + 50
        found += documents
        position = end
    assert found == [bson.decode(document) for document in STREAM]


def test_an_empty_stream():
    assert slice_end(b"", 0, 100) == (0, 0)


@pytest.mark.parametrize("stream", [
    b"\0", GOOD[:4], GOOD[:-1], GOOD + b"\0", GOOD + GOOD[:-1], struct.pack("<i", -1) + GOOD[4:],
    struct.pack("<i", 0) + GOOD[4:], struct.pack("<i", 4) + GOOD[4:], struct.pack("<i", 2**31 - 1) + GOOD[4:]])
def test_hostile_streams(stream):
    with pytest.raises(ProtocolError, match="not as long as it says"):
        slice_end(stream, 0, 10**6)


def test_raw_documents_of_a_slice_are_the_bytes_sent():
    stream = b"".join(STREAM[:3])
    end, _ = slice_end(stream, 0, 10**6)
    raw = bson.decode_all(stream[:end], bson.CodecOptions(document_class=RawBSONDocument))
    assert [document.raw for document in raw] == STREAM[:3]
