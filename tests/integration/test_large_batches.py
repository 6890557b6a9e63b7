"""Batches that are decoded in slices: what they bring is whole and in order, and the hub is never held for long."""
from __future__ import annotations

import datetime

import bson
import gevent
import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from bson.son import SON

pytestmark = pytest.mark.integration

COUNT = 40_000
OPTIONS = {"dict": CodecOptions(), "SON": CodecOptions(document_class=SON),
           "raw": CodecOptions(document_class=RawBSONDocument),
           "aware": CodecOptions(tz_aware=True, tzinfo=datetime.timezone.utc)}


@pytest.fixture(scope="module")
def many(aside):
    """A database with 40,000 small documents, about 4 MB."""
    aside.drop_database("geomongo_many")
    aside.geomongo_many.t.insert_many(
        [{"_id": number, "s": "x" * (number % 60), "at": datetime.datetime(2024, 1, 1)} for number in range(COUNT)])
    yield "geomongo_many"
    aside.drop_database("geomongo_many")


@pytest.fixture(params=OPTIONS.values(), ids=OPTIONS.keys())
def collection(request, client, many):
    client.admin.command("ping")
    return client[many].t.with_options(codec_options=request.param)


def test_in_a_loop(collection, connect, many, ticker):
    ticker.bound_ms = 20
    plain = connect()[many].t.with_options(codec_options=collection.codec_options)  # without a listener
    ids = [document["_id"] for document in plain.find({}, batch_size=COUNT)]
    assert ids == list(range(COUNT))


def test_as_a_list_and_from_an_aggregate(collection):
    assert [document["_id"] for document in list(collection.find({}, batch_size=COUNT))] == list(range(COUNT))
    cursor = collection.aggregate([], batchSize=COUNT)
    assert [document["_id"] for document in cursor.to_list()] == list(range(COUNT))
    assert not cursor.alive


def test_what_is_not_read_is_not_decoded(client, many):
    cursor = client[many].t.find({}, batch_size=COUNT)
    for _ in range(3):
        next(cursor)
    assert 3 <= cursor.retrieved < 3_000
    assert cursor.alive
    cursor.close()
    # What has arrived can still be read.
    assert len(list(cursor)) == COUNT - 3


def test_a_slice_ends_where_the_limit_does(client, many, recorder):
    documents = list(client[many].t.find({}, limit=2_500, batch_size=1_000).sort("_id", -1))
    assert [document["_id"] for document in documents] == list(range(COUNT - 1, COUNT - 2_501, -1))
    assert [command.get("batchSize") for command in recorder.commands("find", "getMore")] == [1000, 1000, 500]


def test_readers_beside_one_another_keep_the_hub_free(connect, many, ticker):
    ticker.bound_ms = 20
    collection = connect()[many].t
    readers = [gevent.spawn(lambda: sum(document["_id"] for document in collection.find({}, batch_size=COUNT)))
               for _ in range(4)]
    gevent.joinall(readers, raise_error=True)
    assert [reader.value for reader in readers] == [COUNT * (COUNT - 1) // 2] * 4


def test_one_large_document(client, name):
    large = {"_id": 1, "list": [{"n": number, "s": "y" * 40} for number in range(50_000)]}
    client[name].t.insert_one(large)
    assert client[name].t.find_one() == large
    assert list(client[name].t.find()) == [large]
    assert client[name].t.find_one_and_update({"_id": 1}, {"$set": {"z": 1}}) == large


def test_raw_batches_are_whole(client, many):
    [batch] = client[many].t.find_raw_batches({}, batch_size=COUNT)
    assert [document["_id"] for document in bson.decode_all(batch)] == list(range(COUNT))


def test_a_kill_between_slices_leaves_the_rest_readable(client, many):
    cursor = client[many].t.find({}, batch_size=COUNT)
    read = []

    def reading():
        for document in cursor:
            read.append(document["_id"])

    reader = gevent.spawn(reading)
    while not read:
        gevent.sleep(0)
    reader.kill()
    seen = len(read)
    assert 0 < seen < COUNT
    read += [document["_id"] for document in cursor]
    assert read == list(range(COUNT))
