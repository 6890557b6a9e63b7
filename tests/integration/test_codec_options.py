"""Codec options hold on every way on which documents of the application come back, in small replies and in large."""
from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

import bson
import pytest
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions, TypeCodec, TypeDecoder, TypeRegistry
from bson.decimal128 import Decimal128
from bson.raw_bson import RawBSONDocument
from bson.son import SON

from geomongo import DeleteOne, ReturnDocument, UpdateOne
from geomongo.errors import DuplicateKeyError

pytestmark = pytest.mark.integration


class DecimalCodec(TypeCodec):
    python_type = decimal.Decimal
    bson_type = Decimal128

    def transform_python(self, value: Any) -> Any:
        return Decimal128(value)

    def transform_bson(self, value: Any) -> Any:
        return value.to_decimal()


class Loud(str):
    """What the application makes of every string, also of those in the driver's part of a reply if it could."""


class LoudDecoder(TypeDecoder):
    bson_type = str

    def transform_bson(self, value: Any) -> Any:
        return Loud(value)


class Mine(dict):
    """A document class of the application."""


OPTIONS = {
    "dict": CodecOptions(),
    "SON": CodecOptions(document_class=SON),
    "subclass": CodecOptions(document_class=Mine),
    "raw": CodecOptions(document_class=RawBSONDocument),
    "decimals": CodecOptions(type_registry=TypeRegistry([DecimalCodec()])),
    "strings": CodecOptions(type_registry=TypeRegistry([LoudDecoder()])),
    "aware": CodecOptions(tz_aware=True),
    "zone": CodecOptions(tz_aware=True, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    "uuid": CodecOptions(uuid_representation=UuidRepresentation.STANDARD),
}
ENCODED = {"_id": 1, "name": "n", "price": Decimal128("1.10"), "at": datetime.datetime(2024, 2, 29, 12, 30, 1, 5000),
           "key": bson.Binary.from_uuid(uuid.UUID(int=7)), "nested": {"list": [{"deep": Decimal128("2")}, "s"]}}
SMALL, LARGE = 3, 2_500


@pytest.fixture(params=OPTIONS.values(), ids=OPTIONS.keys())
def options(request):
    return request.param


@pytest.fixture(scope="module", params=[SMALL, LARGE], ids=["small", "large"])
def stored(request, aside):
    """A database with documents, and the documents."""
    documents = [{**ENCODED, "_id": number} for number in range(request.param)]
    aside.drop_database("geomongo_codec")
    aside.geomongo_codec.t.insert_many(documents)
    yield documents
    aside.drop_database("geomongo_codec")


@pytest.fixture
def collection(client, options, stored):
    return client.geomongo_codec.t.with_options(codec_options=options)


def alike(found, document, options):
    """Whether `found` is what the codec makes of `document`, types included."""
    wanted = bson.decode(bson.encode(document), options)
    if options.document_class is RawBSONDocument:
        return isinstance(found, RawBSONDocument) and found.raw == wanted.raw
    return shape(found) == shape(wanted)


def shape(value):
    if isinstance(value, dict):
        return type(value), [(name, shape(inner)) for name, inner in value.items()]
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value), value, getattr(value, "tzinfo", None)


def test_find(collection, options, stored):
    for cursor in (collection.find(), collection.find({}, batch_size=max(2, len(stored) // 2))):
        found = list(cursor)
        assert len(found) == len(stored)
        assert all(alike(one, document, options) for one, document in zip(found, stored))
        assert cursor.retrieved == len(stored)


def test_aggregate(collection, options, stored):
    found = collection.aggregate([{"$match": {}}]).to_list()
    assert len(found) == len(stored)
    assert all(alike(one, document, options) for one, document in zip(found, stored))


def test_find_one(collection, options, stored):
    assert alike(collection.find_one(1), stored[1], options)
    assert alike(collection.find_one({"_id": 1}, sort=[("_id", 1)]), stored[1], options)
    assert collection.find_one({"_id": -1}) is None


def test_distinct(collection, options):
    assert shape(collection.distinct("price")) == shape(bson.decode(
        bson.encode({"v": [ENCODED["price"]]}), options.with_options(document_class=dict))["v"])
    [nested] = collection.distinct("nested")
    assert alike(nested, ENCODED["nested"], options)
    assert collection.distinct("nowhere") == []
    assert shape(collection.find().distinct("at")) == shape(collection.distinct("at"))


@pytest.mark.parametrize("stored", [SMALL], indirect=True)
def test_find_one_and(collection, options, stored):
    after = collection.find_one_and_update({"_id": 1}, {"$set": {"name": "m"}}, return_document=ReturnDocument.AFTER)
    assert alike(after, {**stored[1], "name": "m"}, options)
    before = collection.find_one_and_replace({"_id": 1}, stored[1])
    assert alike(before, {**stored[1], "name": "m"}, options)
    assert alike(collection.find_one_and_delete({"_id": 1}), stored[1], options)
    assert collection.find_one_and_delete({"_id": 1}) is None
    collection.insert_one(before if options.document_class is RawBSONDocument else dict(stored[1]))


def test_what_was_read_can_be_written(collection, options, client, name):
    document = collection.find_one(2)
    copy = client[name].copy.with_options(codec_options=options)
    copy.insert_one(document)
    copy.insert_many([collection.find_one(0), collection.find_one(1)])
    copy.replace_one({"_id": 1}, collection.find_one(1))
    raw = client[name].copy.find_raw_batches(sort=[("_id", 1)])
    assert b"".join(raw) == b"".join(bson.encode({**ENCODED, "_id": number}) for number in range(3))


class TaggedInt(TypeDecoder):
    bson_type = int

    def transform_bson(self, value: Any) -> Any:
        return f"int {value}"


@pytest.mark.parametrize("options", [
    OPTIONS["raw"], OPTIONS["SON"], OPTIONS["strings"], CodecOptions(type_registry=TypeRegistry([TaggedInt()]))],
    ids=["raw", "SON", "strings", "integers"])
def test_replies_to_writes_are_the_drivers(client, ten, options):
    collection = client[ten].t.with_options(codec_options=options)
    updated = collection.update_one({"_id": 1}, {"$set": {"y": 1}})
    assert (updated.matched_count, updated.modified_count, updated.raw_result["updatedExisting"]) == (1, 1, True)
    assert collection.update_one({"_id": 11}, {"$set": {"y": 1}}, upsert=True).upserted_id == 11
    assert collection.delete_one({"_id": 11}).deleted_count == 1
    with pytest.raises(DuplicateKeyError) as raised:
        collection.insert_one({"_id": 1})
    assert raised.value.code == 11000 and type(raised.value.details) is dict
    bulk = collection.bulk_write([UpdateOne({"_id": 12}, {"$set": {"y": 1}}, upsert=True), DeleteOne({"_id": 12})])
    assert (bulk.upserted_ids, bulk.deleted_count) == ({0: 12}, 1)
    assert collection.count_documents({}) == collection.estimated_document_count() == 10
    assert collection.create_index("x") == "x_1"
    assert collection.index_information()["x_1"]["key"] == [("x", 1)]
    assert client[ten].with_options(codec_options=options).list_collection_names() == ["t"]


def test_ids_that_the_server_sends_back_are_the_applications(client, name):
    standard = client[name].t.with_options(codec_options=OPTIONS["uuid"])
    key = uuid.UUID(int=1)
    assert standard.update_one({"_id": key}, {"$set": {"x": 1}}, upsert=True).upserted_id == key
    raw = client[name].t.with_options(codec_options=OPTIONS["raw"].with_options(uuid_representation=4))
    assert raw.update_one({"_id": uuid.UUID(int=2)}, {"$set": {"x": 1}}, upsert=True).upserted_id == uuid.UUID(int=2)


def test_commands_take_codec_options_but_not_codecs(client, ten):
    database = client[ten].with_options(codec_options=OPTIONS["SON"])
    assert type(database.command("ping")) is dict
    for options in (OPTIONS["SON"], OPTIONS["subclass"], OPTIONS["raw"]):
        reply = database.command({"count": "t"}, codec_options=options)
        assert type(reply) is options.document_class and reply["n"] == 10
    tagged = CodecOptions(type_registry=TypeRegistry([TaggedInt()]))
    assert database.command("count", "t", codec_options=tagged)["n"] == 10
    found = database.cursor_command("find", "t", codec_options=OPTIONS["subclass"], batchSize=4).to_list()
    assert [type(document) for document in found] == [Mine] * 10
    assert type(client[ten].t.with_options(codec_options=OPTIONS["SON"]).find().explain()) is SON


def test_lists_of_names_are_the_drivers(client, aside, ten):
    database = client[ten].with_options(codec_options=OPTIONS["strings"])
    assert [(type(found), type(found["name"])) for found in database.list_collections()] == [(dict, str)]
    assert [type(found) for found in database.t.list_indexes()] == [SON]
    assert {type(found) for found in client.list_databases()} == {dict}
