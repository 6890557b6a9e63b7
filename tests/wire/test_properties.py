"""What holds for every document and for every broken message (property-based)."""
from __future__ import annotations

import struct
import tracemalloc

import bson
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.codec_options import CodecOptions
from bson.errors import InvalidBSON
from hypothesis import given, settings
from hypothesis import strategies as st

from geomongo._bson import DEFAULT_OPTIONS, decode, decode_many
from geomongo._wire import op_msg, op_query
from geomongo._wire.framing import HEADER_SIZE, message_length
from geomongo._wire.raw import ArrayReader, extract
from geomongo.errors import ProtocolError
from tests.wire.messages import body
from tests.wire.messages import op_msg as message
from tests.wire.messages import op_reply, sequence

OPTIONS = CodecOptions()

keys = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
cstrings = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2**63, 2**63 - 1), st.floats(allow_nan=False), texts,
    st.binary(max_size=20), st.builds(ObjectId, st.binary(min_size=12, max_size=12)),
    st.builds(Int64, st.integers(-2**63, 2**63 - 1)), st.builds(Regex, cstrings, st.just("im")),
    st.builds(Timestamp, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
    st.builds(Binary, st.binary(max_size=20), st.integers(128, 254)), st.builds(Code, texts),
    st.just(MinKey()), st.just(MaxKey()), st.just(Decimal128("1.50")))
values = st.recursive(scalars, lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)), max_leaves=12)
documents = st.dictionaries(keys, values, max_size=6)
batches = st.lists(documents, max_size=4)


def answering(request: bytes, request_id: int) -> bytes:
    """`request`, as if it were the answer to `request_id`."""
    return request[:8] + struct.pack("<i", request_id) + request[12:]


@settings(deadline=None)
@given(documents, st.integers(1, 2**31 - 1))
def test_any_document_survives_the_way_there_and_back(document, request_id):
    request = op_msg.request(request_id, document, OPTIONS)
    assert message_length(request, len(request)) == len(request)
    reply = answering(request, request_id)
    assert bson.decode(bytes(op_msg.reply_body(reply, request_id))) == document
    assert bson.decode(bytes(op_msg.parse(reply, request_id).body)) == document


@settings(deadline=None)
@given(documents, cstrings, batches)
def test_any_sequence_survives_the_way_there_and_back(document, identifier, batch):
    encoded = [bson.encode(one) for one in batch]
    request = op_msg.request_with_sequence(3, document, OPTIONS, identifier, encoded)
    reply = op_msg.parse(answering(request, 3), 3)
    assert bson.decode(bytes(reply.body)) == document
    assert bson.decode_all(reply.sequences[identifier]) == batch


@settings(deadline=None)
@given(documents)
def test_any_document_survives_op_query_and_op_reply(document):
    assert op_query.request(3, document).endswith(bson.encode(document))
    assert bson.decode(op_query.reply_body(op_reply([bson.encode(document)]), 7)) == document


def broken(draw, valid: bytes) -> bytes:
    """`valid` with bytes changed, cut out, doubled or cut off; sometimes with a header that is right all the same."""
    data = bytearray(valid)
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            data[position:position + 1] = draw(st.binary(min_size=1, max_size=1))
        elif kind == 1:
            data[position:position + 4] = struct.pack("<i", draw(st.integers(-2**31, 2**31 - 1)))
        elif kind == 2:
            del data[position:]
        elif kind == 3:
            del data[position:position + draw(st.integers(1, 8))]
        else:
            data[position:position] = draw(st.binary(max_size=8))
    if draw(st.booleans()):
        data[:HEADER_SIZE] = struct.pack("<i", max(HEADER_SIZE, len(data))) + valid[4:HEADER_SIZE]
    return bytes(data)


@st.composite
def broken_messages(draw):
    """A broken OP_MSG with a cursor's reply, which may have document sequences."""
    reply = draw(documents) | {"cursor": {"id": 0, "firstBatch": draw(batches)}, "ok": 1.0}
    sections = [body(bson.encode(reply))]
    if draw(st.booleans()):
        sections.append(sequence(b"x", *map(bson.encode, draw(batches))))
    return broken(draw, message(*sections))


@st.composite
def broken_replies(draw):
    """A broken OP_REPLY."""
    return broken(draw, op_reply([bson.encode(draw(documents))]))


def read(data: bytes) -> None:
    """All that the driver does with a reply to find, up to the application's documents."""
    if len(data) >= 4:
        message_length(data, 48_000_000)
    reply = op_msg.reply_body(data, 7)
    decode(reply, DEFAULT_OPTIONS)
    cut = extract(reply, ("cursor", "firstBatch"))
    if cut is None:
        return
    decode(cut.rest, DEFAULT_OPTIONS)
    reader = ArrayReader(cut.value)
    while not reader.exhausted:
        decode_many(reader.take(64), DEFAULT_OPTIONS)


@settings(max_examples=400, deadline=None)
@given(broken_messages())
def test_a_broken_message_is_read_or_refused_and_nothing_else(data):
    try:
        read(data)
    except (ProtocolError, InvalidBSON) as refused:
        assert str(refused)
    try:
        cut = extract(data[HEADER_SIZE + 5:], ("cursor", "firstBatch"))
        assert cut is None or len(cut.value) <= len(data)
    except ProtocolError as refused:
        assert str(refused)


@settings(max_examples=200, deadline=None)
@given(broken_replies())
def test_a_broken_op_reply_is_read_or_refused_and_nothing_else(data):
    try:
        decode(op_query.reply_body(data, 7), DEFAULT_OPTIONS)
    except (ProtocolError, InvalidBSON) as refused:
        assert str(refused)


@settings(max_examples=100, deadline=None)
@given(broken_messages())
def test_nothing_is_allocated_from_a_length_in_a_message(data):
    refused = 0
    tracemalloc.start()
    try:
        for step in (lambda: op_msg.parse(data, 7), lambda: op_query.reply_body(data, 7),
                     lambda: extract(data[HEADER_SIZE + 5:], ("cursor", "firstBatch")),
                     lambda: ArrayReader(data[HEADER_SIZE:]).take(2**31)):
            try:
                step()
            except ProtocolError:
                refused += 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The exceptions with their tracebacks take a few KB; a length that was believed would take up to 2 GB.
    assert peak < 100_000 + 10 * len(data)
    assert refused  # no message is both an OP_MSG and an OP_REPLY


@settings(deadline=None)
@given(documents, documents, batches, documents)
def test_extract_finds_what_decode_finds(before, inside, batch, after):
    reply = {**before, "cursor": {**inside, "firstBatch": batch, "tail": inside}, "after": after}
    encoded = bson.encode(reply)
    cut = extract(encoded, ("cursor", "firstBatch"))
    assert cut is not None
    assert list(bson.decode(bytes(cut.value)).values()) == bson.decode(encoded)["cursor"]["firstBatch"] == batch
    assert bson.decode(cut.rest) == {**reply, "cursor": {**reply["cursor"], "firstBatch": []}}


@settings(deadline=None)
@given(documents, st.lists(keys, min_size=1, max_size=3))
def test_extract_agrees_with_decode_on_any_path(document, path):
    found = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    cut = extract(bson.encode(document), tuple(path))
    if not isinstance(found, (dict, list)):
        assert cut is None
        return
    assert cut is not None
    decoded = bson.decode(bytes(cut.value))
    assert (list(decoded.values()) if isinstance(found, list) else decoded) == found


arrays = st.lists(st.one_of(documents, st.dictionaries(keys, st.lists(documents, max_size=4), max_size=2)), max_size=8)


@settings(deadline=None)
@given(arrays, st.integers(1, 300))
def test_slices_hold_every_document_once(batch, size):
    reader = ArrayReader(bson.encode({str(index): document for index, document in enumerate(batch)}))
    found = []
    while not reader.exhausted:
        part = bson.decode_all(reader.take(size))
        assert part
        found += part
    assert found == batch


@st.composite
def broken_arrays(draw):
    """A broken array of documents, whose outer length is right."""
    batch = draw(arrays)
    data = broken(draw, bson.encode({str(index): document for index, document in enumerate(batch)}))
    return struct.pack("<i", len(data)) + data[4:] if len(data) >= 5 else struct.pack("<i", 5) + b"\0"


@settings(max_examples=400, deadline=None)
@given(broken_arrays(), st.integers(1, 300))
def test_a_broken_array_is_read_or_refused_and_nothing_else(data, size):
    reader = ArrayReader(data)
    length = 0
    try:
        while not reader.exhausted:
            part = reader.take(size)
            assert part
            length += len(part)
    except ProtocolError as refused:
        assert str(refused)
    assert length <= len(data)
