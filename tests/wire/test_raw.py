"""Cutting encoded documents: every type is skipped over, and no length is believed."""
from __future__ import annotations

import struct
import time

import bson
import pytest
from bson import Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.raw_bson import RawBSONDocument

from geomongo._wire.raw import ARRAY, DOCUMENT, EMPTY_DOCUMENT, ArrayReader, extract
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

def taken(array, size):
    """Every slice of an encoded array."""
    reader = ArrayReader(array)
    slices = []
    while not reader.exhausted:
        slices.append(reader.take(size))
    return slices


def array(*documents):
    """An encoded array of documents (an array is encoded as a document with its indexes as names)."""
    return bson.encode({str(index): document for index, document in enumerate(documents)})


PLAIN = [{"n": number, "text": "x" * (number % 50)} for number in range(120)]
# Documents that hold what looks like the elements of the array around them.
DECEIVING = [{"n": [{"a": 1}] * (number % 13), "b": b"\x03%d\0\x05\0\0\0\0" % (number + 1)} for number in range(120)]


@pytest.mark.parametrize("size", [1, 40, 100, 1000, 10**9])
@pytest.mark.parametrize("documents", [PLAIN, DECEIVING, PLAIN[:1], [{}], [{}, {}, {}]])
def test_slices_are_whole_documents_and_nothing_is_lost(documents, size):
    slices = taken(array(*documents), size)
    decoded = [bson.decode_all(one) for one in slices]
    assert all(decoded)
    assert [document for one in decoded for document in one] == documents
    assert b"".join(slices) == b"".join(map(bson.encode, documents))


def test_slices_are_about_as_large_as_asked_for():
    largest = max(len(bson.encode(document)) for document in DECEIVING)
    for documents in (PLAIN, DECEIVING):
        assert max(map(len, taken(array(*documents), 500))) <= 500 + 2 * largest


def test_an_empty_array_is_exhausted_from_the_start():
    assert ArrayReader(EMPTY_DOCUMENT).exhausted
    assert taken(EMPTY_DOCUMENT, 100) == []


def test_slices_of_a_view_into_a_reply():
    body = bson.encode({"cursor": {"firstBatch": PLAIN}})
    slices = taken(extract(body, PATH).value, 1000)
    assert bson.decode_all(b"".join(slices)) == PLAIN


ELEMENT = b"\x030\0" + GOOD
HOSTILE_ARRAYS = {
    "a number in it": document(ELEMENT, b"\x101\0\0\0\0\0"),
    "a number at its begin": document(b"\x100\0\0\0\0\0", ELEMENT),
    "cut off": document(ELEMENT + ELEMENT[:-1]),
    "name without end": document(ELEMENT + b"\x03" + b"1" * 300),
    "no length": document(ELEMENT + b"\x031\0\1"),
    "negative length": document(ELEMENT + b"\x031\0" + struct.pack("<i", -1) + b"\0" * 20),
    "length 0": document(ELEMENT + b"\x031\0" + struct.pack("<i", 0) + b"\0" * 20),
    "length 4": document(ELEMENT + b"\x031\0" + struct.pack("<i", 4) + b"\0" * 20),
    "huge length": document(ELEMENT + b"\x031\0" + struct.pack("<i", 2**31 - 1) + b"\0" * 20),
    "longer than the array": document(ELEMENT + b"\x031\0" + struct.pack("<i", 13) + GOOD[4:]),
}


@pytest.mark.parametrize("size", [1, 10, 100])
@pytest.mark.parametrize("hostile", HOSTILE_ARRAYS.values(), ids=HOSTILE_ARRAYS.keys())
def test_hostile_arrays(hostile, size):
    with pytest.raises(ProtocolError, match="no array of documents|not as long as it says"):
        taken(hostile, size)


def test_raw_documents_of_a_slice_are_the_bytes_sent():
    options = bson.CodecOptions(document_class=RawBSONDocument)
    raw = [one for part in taken(array(*PLAIN), 200) for one in bson.decode_all(part, options)]
    assert [one.raw for one in raw] == [bson.encode(document) for document in PLAIN]
