"""The same calls through PyMongo and geomongo: the commands sent, the results and the errors must be alike."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import bson
import pymongo
import pymongo.collation
import pymongo.monitoring
import pymongo.read_concern
import pytest
from bson.codec_options import CodecOptions
from bson.son import SON

import geomongo
import geomongo.collation
import geomongo.monitoring
import geomongo.read_concern

pytestmark = pytest.mark.integration

# What is each driver's own: sessions, times, and the number of a retryable write.
OWN_FIELDS = {"lsid", "$clusterTime", "txnNumber"}


class Driver:
    """One driver with a client, a database and a collection, and the commands that it sent."""

    def __init__(self, package: Any, uri: str, database: str) -> None:
        self.package = package
        self.commands: list[Any] = []
        recorder = type("Recorder", (package.monitoring.CommandListener,), {
            "started": lambda _, event: self.commands.append(plain_command(event.command)),
            "succeeded": lambda _, event: None, "failed": lambda _, event: None})()
        self.client = package.MongoClient(uri, event_listeners=[recorder], serverSelectionTimeoutMS=5000)
        self.db = self.client[database]
        self.t = self.db["t"]

    def prepare(self) -> None:
        self.client.drop_database(self.db.name)
        self.t.insert_many([{"_id": number, "x": number, "s": f"name {number}"} for number in range(10)])
        self.commands.clear()


def plain_command(command: Any) -> Any:
    kept = {name: value for name, value in command.items() if name not in OWN_FIELDS}
    if kept.get("comment", 0) is None:
        del kept["comment"]  # PyMongo sends a null comment with dropDatabase
    return kept


class Outcome(NamedTuple):
    commands: list[Any]
    result: Any


def outcome(driver: Driver, call: Callable[[Driver], Any]) -> Outcome:
    driver.prepare()
    try:
        result = described(call(driver))
    except Exception as error:
        result = f"raises {type(error).__name__}: {substance(error)}"
    commands = [normalised(command) for command in driver.commands]
    driver.db.command("ping")  # an unacknowledged write on the same connection is done now
    return Outcome(commands, result)


def described(value: Any) -> Any:
    raw = getattr(value, "raw_result", None) or getattr(value, "bulk_api_result", None)
    if raw is not None and not isinstance(value, dict):
        return type(value).__name__, normalised(raw)
    return normalised(value)


def substance(error: Exception) -> Any:
    """What a program reads of an error: code, details, labels. Texts are each driver's own, except the server's."""
    details = getattr(error, "details", None)
    return getattr(error, "code", None), normalised(details) if isinstance(details, dict) else None


def normalised(value: Any) -> Any:
    """`value` without what differs from run to run."""
    if isinstance(value, dict):
        return {name: normalised(inner) for name, inner in value.items()
                if name not in ("$clusterTime", "operationTime", "electionId", "opTime", "localTime", "uuid")}
    if isinstance(value, (list, tuple)):
        return [normalised(inner) for inner in value]
    if isinstance(value, bson.ObjectId):
        return "an ObjectId"
    if isinstance(value, int) and value > 2**53:
        return "a cursor id"
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        return value
    return re.sub(r"pymongo(\.synchronous)?", "geomongo", re.sub(r"0x[0-9a-f]+", "0x", repr(value)))


@pytest.fixture(scope="module")
def drivers(uri: str) -> Iterator[tuple[Driver, Driver]]:
    both = Driver(pymongo, uri, "differential"), Driver(geomongo, uri, "differential")
    yield both
    for driver in both:
        driver.client.close()


def w(driver: Driver, **concern: Any) -> Any:
    return driver.t.with_options(write_concern=driver.package.WriteConcern(**concern))


READS: dict[str, Callable[[Driver], Any]] = {
    "find_one": lambda d: d.t.find_one(),
    "find_one by id": lambda d: d.t.find_one(3),
    "find_one nothing": lambda d: d.t.find_one({"x": 99}),
    "find_one projection": lambda d: d.t.find_one({"x": 1}, {"x": 1, "_id": 0}),
    "find_one everything": lambda d: d.t.find_one(
        {"x": 1}, ["x"], sort=[("x", 1)], skip=0, hint="_id_", max_time_ms=1000, comment="hi",
        collation=d.package.collation.Collation("en"), batch_size=3, let={"a": 1}, allow_disk_use=True),
    "find all": lambda d: list(d.t.find()),
    "find batches": lambda d: list(d.t.find({}, batch_size=3)),
    "find limit": lambda d: list(d.t.find({}, limit=5, batch_size=2)),
    "find limit without batch size": lambda d: list(d.t.find({}, limit=5)),
    "find limit equal to batch size": lambda d: list(d.t.find({}, limit=5, batch_size=5)),
    "find limit below batch size": lambda d: list(d.t.find({}, limit=5, batch_size=6)),
    "find single batch": lambda d: list(d.t.find({}, limit=-3, batch_size=2)),
    "find batch size one": lambda d: list(d.t.find({}, batch_size=1)),
    "find flags": lambda d: list(d.t.find({}, skip=3, no_cursor_timeout=True, allow_partial_results=True,
                                          return_key=True, show_record_id=True)),
    "find min max": lambda d: list(d.t.find().min([("_id", 2)]).max([("_id", 5)]).hint("_id_")),
    "find min without hint": lambda d: list(d.t.find().min([("_id", 2)])),
    "find sort": lambda d: list(d.t.find().sort([("x", -1)])),
    "find sort pairs": lambda d: list(d.t.find().sort("x", -1).skip(2).limit(2)),
    "find sort bad": lambda d: list(d.t.find().sort("x", 7)),
    "find slice": lambda d: d.t.find()[2:4].to_list(),
    "find slice from": lambda d: d.t.find()[8:].to_list(),
    "find slice to": lambda d: d.t.find()[:2].to_list(),
    "find slice empty": lambda d: d.t.find()[3:3].to_list(),
    "find index": lambda d: d.t.find()[2],
    "find index beyond": lambda d: d.t.find()[200],
    "find clone and rewind": lambda d: [c := d.t.find({"x": 1}), next(c), next(c.rewind()), next(c.clone())][1:],
    "find to_list some": lambda d: d.t.find({}, batch_size=2).to_list(3),
    "find explain": lambda d: sorted(d.t.find({"x": 1}).explain())[:1],
    "find distinct": lambda d: d.t.find({"x": {"$gt": 4}}).distinct("x"),
    "find bad operator": lambda d: list(d.t.find({"$foo": 1})),
    "find tailable on plain": lambda d: list(d.t.find({}, cursor_type=d.package.CursorType.TAILABLE)),
    "find exhaust": lambda d: len(d.t.find({}, cursor_type=d.package.CursorType.EXHAUST, batch_size=4).to_list()),
    "find closed early": lambda d: [c := d.t.find({}, batch_size=2), next(c), c.close(), c.alive][3],
    "find in with": lambda d: with_block(d.t.find({}, batch_size=2)),
    "find raw": lambda d: list(d.t.find_raw_batches({}, batch_size=4)),
    "find raw nothing": lambda d: list(d.t.find_raw_batches({"x": 99})),
    "find as SON": lambda d: list(
        d.t.with_options(codec_options=CodecOptions(document_class=SON)).find({}, limit=2)),
    "find raw documents": lambda d: [bytes(x.raw) for x in d.t.with_options(
        codec_options=CodecOptions(document_class=bson.raw_bson.RawBSONDocument)).find({}, limit=2)],
    "find read concern": lambda d: d.t.with_options(
        read_concern=d.package.read_concern.ReadConcern("majority")).find_one(),
    "find secondary preferred": lambda d: d.t.with_options(
        read_preference=d.package.ReadPreference.SECONDARY_PREFERRED).find_one(),
    "aggregate": lambda d: d.t.aggregate([{"$match": {"x": {"$gt": 1}}}], batchSize=3).to_list(),
    "aggregate options": lambda d: d.t.aggregate([{"$match": {"x": 1}}], allowDiskUse=True, let={"v": 1}, comment="c",
                                                 hint="_id_", maxTimeMS=1000, collation={"locale": "en"}).to_list(),
    "aggregate out": lambda d: d.t.aggregate([{"$match": {"x": 1}}, {"$out": "o"}]).to_list(),
    "aggregate bad stage": lambda d: d.t.aggregate([{"$nosuch": 1}]).to_list(),
    "aggregate database": lambda d: d.db.aggregate([{"$documents": [{"x": 1}]}]).to_list(),
    "aggregate try_next": lambda d: [c := d.t.aggregate([{"$limit": 1}]), c.try_next(), c.try_next(), c.alive][1:],
    "count_documents": lambda d: d.t.count_documents({"x": {"$gt": 1}}, skip=1, limit=5, hint="_id_"),
    "count_documents none": lambda d: d.t.count_documents({"x": 99}),
    "count_documents bad": lambda d: d.t.count_documents({"$foo": 1}),
    "estimated_document_count": lambda d: d.t.estimated_document_count(maxTimeMS=1000, comment="x"),
    "estimated_document_count nowhere": lambda d: d.db.nowhere.estimated_document_count(),
    "distinct": lambda d: d.t.distinct("x", {"x": {"$gt": 5}}, comment="c", hint="_id_"),
    "distinct collation": lambda d: d.t.distinct("s", collation={"locale": "en"}),
    "dereference": lambda d: d.db.dereference(bson.DBRef("t", 1)),
}

WRITES: dict[str, Callable[[Driver], Any]] = {
    "insert_one": lambda d: d.t.insert_one({"_id": 50, "a": 1}).inserted_id,
    "insert_one gives an id": lambda d: sorted(given_id(d)),
    "insert_one duplicate": lambda d: d.t.insert_one({"_id": 1}),
    "insert_one options": lambda d: d.t.insert_one({"_id": 50}, True, comment="c").acknowledged,
    "insert_one unacknowledged": lambda d: w(d, w=0).insert_one({"_id": 50}).acknowledged,
    "insert_one majority": lambda d: w(d, w="majority", j=True, wtimeout=1000).insert_one({"_id": 50}).inserted_id,
    "insert_one dotted": lambda d: d.t.insert_one({"_id": 50, "a.b": 1}).inserted_id,
    "insert_one object": lambda d: d.t.insert_one({"_id": object()}),
    "insert_one number key": lambda d: d.t.insert_one({1: 2}),
    "insert_many": lambda d: d.t.insert_many([{"_id": 50}, {"_id": 51}], comment="c").inserted_ids,
    "insert_many ordered": lambda d: d.t.insert_many([{"_id": 50}, {"_id": 1}, {"_id": 51}]),
    "insert_many unordered": lambda d: d.t.insert_many([{"_id": 50}, {"_id": 1}, {"_id": 51}, {"_id": 2}], False),
    "update_one": lambda d: d.t.update_one({"x": 1}, {"$set": {"y": 1}}),
    "update_one nothing": lambda d: d.t.update_one({"x": 99}, {"$set": {"y": 1}}),
    "update_one upsert": lambda d: d.t.update_one({"_id": 99}, {"$set": {"y": 1}}, upsert=True),
    "update_one pipeline": lambda d: d.t.update_one({"x": 1}, [{"$set": {"y": 1}}]),
    "update_one options": lambda d: d.t.update_one(
        {"x": 1}, {"$set": {"y": 1}}, hint="_id_", collation={"locale": "en"}, let={"a": 1}, comment="z",
        sort={"x": 1}),
    "update_one array filters unused": lambda d: d.t.update_one({"x": 1}, {"$set": {"y": 2}},
                                                                array_filters=[{"a": 1}]),
    "update_one unacknowledged": lambda d: w(d, w=0).update_one({"x": 1}, {"$set": {"y": 1}}).acknowledged,
    "update_many": lambda d: d.t.update_many({"x": {"$gt": 3}}, {"$set": {"y": 2}}),
    "replace_one": lambda d: d.t.replace_one({"x": 1}, {"z": 1}, bypass_document_validation=True),
    "replace_one upsert": lambda d: d.t.replace_one({"_id": 99}, {"z": 1}, upsert=True),
    "delete_one": lambda d: d.t.delete_one({"x": 1}, hint="_id_"),
    "delete_many": lambda d: d.t.delete_many({"x": {"$gt": 4}}, collation=d.package.collation.Collation("en")),
    "delete_many unacknowledged": lambda d: w(d, w=0).delete_many({"x": 1}).acknowledged,
    "find_one_and_update": lambda d: d.t.find_one_and_update(
        {"x": 1}, {"$inc": {"z": 1}}, {"z": 1}, sort=[("x", 1)], return_document=True, hint="_id_", let={"a": 1}),
    "find_one_and_update nothing": lambda d: d.t.find_one_and_update({"x": 99}, {"$inc": {"z": 1}}),
    "find_one_and_update as SON": lambda d: d.t.with_options(
        codec_options=CodecOptions(document_class=SON)).find_one_and_update({"x": 1}, {"$inc": {"z": 1}}),
    "find_one_and_replace": lambda d: d.t.find_one_and_replace({"x": 1}, {"x": 2}, upsert=True),
    "find_one_and_delete": lambda d: d.t.find_one_and_delete({"x": 1}, projection=["x"], comment="c"),
    "find_one_and_delete bad": lambda d: d.t.find_one_and_delete({"$foo": 1}),
    "bulk_write": lambda d: d.t.bulk_write([
        d.package.InsertOne({"_id": 50}), d.package.UpdateOne({"_id": 50}, {"$set": {"a": 1}}),
        d.package.DeleteOne({"_id": 50}), d.package.ReplaceOne({"_id": 60}, {"a": 2}, upsert=True)], comment="c"),
    "bulk_write unordered": lambda d: d.t.bulk_write([
        d.package.DeleteOne({"_id": 1}), d.package.InsertOne({"_id": 50}), d.package.InsertOne({"_id": 2}),
        d.package.UpdateOne({"_id": 3}, {"$set": {"a": 1}}), d.package.InsertOne({"_id": 4})], ordered=False),
    "bulk_write many": lambda d: d.t.bulk_write([
        d.package.DeleteMany({"x": {"$gt": 7}}), d.package.DeleteOne({"x": 1})], let={"a": 1}),
    "bulk_write bad": lambda d: d.t.bulk_write([3]),
    "bulk_write empty": lambda d: d.t.bulk_write([]),
    "bulk_write unacknowledged": lambda d: w(d, w=0).bulk_write([d.package.InsertOne({"_id": 77})]).acknowledged,
}

MANAGEMENT: dict[str, Callable[[Driver], Any]] = {
    "create_index": lambda d: d.t.create_index("x"),
    "create_index options": lambda d: d.t.create_index([("x", 1), ("s", -1)], name="n", unique=True, sparse=True),
    "create_index conflict": lambda d: [d.t.create_index("x", name="n"), d.t.create_index("s", name="n")],
    "create_index unknown option": lambda d: d.t.create_index("x", nosuch=1),
    "create_indexes": lambda d: d.t.create_indexes([d.package.IndexModel("x"), d.package.IndexModel([("s", 1)])]),
    "list_indexes": lambda d: [d.t.create_index("x"), list(d.t.list_indexes())][1],
    "list_indexes nowhere": lambda d: list(d.db.nowhere.list_indexes()),
    "index_information": lambda d: [d.t.create_index("x", unique=True), d.t.index_information()][1],
    "drop_index": lambda d: [d.t.create_index("x"), d.t.drop_index([("x", 1)])][1],
    "drop_index missing": lambda d: d.t.drop_index("nosuch"),
    "drop_index nowhere": lambda d: d.db.nowhere.drop_index("nosuch"),
    "drop_indexes": lambda d: d.t.drop_indexes(),
    "options": lambda d: d.t.options(),
    "options nowhere": lambda d: d.db.nowhere.options(),
    "create_collection": lambda d: d.db.create_collection("cap", capped=True, size=10000, max=3).name,
    "create_collection exists": lambda d: d.db.create_collection("t"),
    "create_collection unchecked": lambda d: d.db.create_collection("t", check_exists=False).name,
    "create_collection unknown option": lambda d: d.db.create_collection("u", nosuch=1),
    "list_collection_names": lambda d: d.db.list_collection_names(),
    "list_collection_names filter": lambda d: d.db.list_collection_names(filter={"name": "t"}),
    "list_collections": lambda d: [found["name"] for found in d.db.list_collections(comment="x")],
    "drop": lambda d: d.t.drop(comment="c"),
    "drop nowhere": lambda d: d.db.nowhere.drop(),
    "drop_collection": lambda d: d.db.drop_collection(d.t)["nIndexesWas"],
    "rename": lambda d: d.t.rename("u")["ok"],
    "rename onto": lambda d: [d.db.u.insert_one({"_id": 1}).inserted_id, d.t.rename("u", dropTarget=True)["ok"]],
    "rename onto refused": lambda d: [d.db.u.insert_one({"_id": 1}), d.t.rename("u")],
    "drop_database": lambda d: d.client.drop_database("nowhere"),
    "list_database_names": lambda d: d.db.name in d.client.list_database_names(),
    "list_databases": lambda d: sorted(next(d.client.list_databases(filter={"name": d.db.name}))),
    "command ping": lambda d: d.db.command("ping")["ok"],
    "command fields": lambda d: d.db.command("count", "t", query={"x": 1}, comment="c")["n"],
    "command document": lambda d: d.db.command({"count": "t"})["n"],
    "command unknown": lambda d: d.db.command("nosuch"),
    "command unknown allowed": lambda d: d.db.command("nosuch", allowable_errors=[59])["code"],
    "command unchecked": lambda d: d.db.command("nosuch", check=False)["code"],
    "cursor_command": lambda d: list(d.db.cursor_command("find", "t", filter={"x": 1})),
    "validate_collection": lambda d: d.db.validate_collection("t")["valid"],
    "validate_collection nowhere": lambda d: d.db.validate_collection("nowhere"),
    "server_info": lambda d: d.client.server_info()["version"],
}

REFUSALS: dict[str, Callable[[Driver], Any]] = {
    "filter": lambda d: d.t.find(1),
    "projection": lambda d: d.t.find({}, 3),
    "limit": lambda d: d.t.find({}, limit="x"),
    "skip": lambda d: d.t.find().skip(-1),
    "batch size": lambda d: d.t.find({}, batch_size=-1),
    "batch size type": lambda d: d.t.find().batch_size("a"),
    "cursor type": lambda d: d.t.find({}, cursor_type=77),
    "flag": lambda d: d.t.find({}, no_cursor_timeout=1),
    "hint": lambda d: d.t.find({}, hint=3),
    "sort": lambda d: d.t.find({}, sort=3),
    "sort empty": lambda d: d.t.find().sort([]),
    "unknown argument": lambda d: d.t.find({}, foo=1),
    "negative index": lambda d: d.t.find()[-1],
    "index type": lambda d: d.t.find()["a"],
    "slice backwards": lambda d: d.t.find()[5:2],
    "slice step": lambda d: d.t.find()[::2],
    "to_list": lambda d: d.t.find().to_list(0),
    "max_time_ms": lambda d: d.t.find().max_time_ms("a"),
    "max_await_time_ms": lambda d: d.t.find().max_await_time_ms("a"),
    "where": lambda d: d.t.find().where(3),
    "collation": lambda d: d.t.find().collation(3),
    "add_option": lambda d: d.t.find().add_option("a"),
    "exhaust with limit": lambda d: d.t.find({}, cursor_type=d.package.CursorType.EXHAUST, limit=3),
    "raw index": lambda d: d.t.find_raw_batches()[0],
    "option after start": lambda d: [c := d.t.find(), next(c), c.limit(3)],
    "let": lambda d: d.t.find({}, let=1),
    "insert_one": lambda d: d.t.insert_one(1),
    "insert_one list": lambda d: d.t.insert_one([]),
    "insert_many empty": lambda d: d.t.insert_many([]),
    "insert_many mapping": lambda d: d.t.insert_many({}),
    "insert_many number": lambda d: d.t.insert_many([1]),
    "update empty": lambda d: d.t.update_one({}, {}),
    "update without operator": lambda d: d.t.update_one({}, {"x": 1}),
    "update filter": lambda d: d.t.update_one(1, {"$set": {"x": 1}}),
    "update upsert": lambda d: d.t.update_one({}, {"$set": {"x": 1}}, upsert=1),
    "update array filters": lambda d: d.t.update_one({}, {"$set": {"x": 1}}, array_filters={}),
    "replace with operator": lambda d: d.t.replace_one({}, {"$set": 1}),
    "replace number": lambda d: d.t.replace_one({}, 1),
    "delete filter": lambda d: d.t.delete_one(1),
    "return_document": lambda d: d.t.find_one_and_update({}, {"$set": {"x": 1}}, return_document=3),
    "find_one_and_replace": lambda d: d.t.find_one_and_replace({}, {"$set": 1}),
    "bulk list": lambda d: d.t.bulk_write(1),
    "distinct key": lambda d: d.t.distinct(1),
    "index keys": lambda d: d.t.create_index([]),
    "index keys type": lambda d: d.t.create_index(3),
    "index models": lambda d: d.t.create_indexes([3]),
    "drop_index": lambda d: d.t.drop_index(3),
    "rename type": lambda d: d.t.rename(1),
    "rename empty": lambda d: d.t.rename(""),
    "rename dot": lambda d: d.t.rename(".a"),
    "rename dots": lambda d: d.t.rename("a..b"),
    "rename dollar": lambda d: d.t.rename("$a"),
    "pipeline": lambda d: d.t.aggregate({}),
    "aggregate explain": lambda d: d.t.aggregate([], explain=True),
    "collection empty": lambda d: d.db[""],
    "collection dots": lambda d: d.db["a..b"],
    "collection dollar": lambda d: d.db["$a"],
    "collection type": lambda d: d.db[1],
    "database space": lambda d: d.client["a b"],
    "database empty": lambda d: d.client[""],
    "database dot": lambda d: d.client["a.b"],
    "database type": lambda d: d.client[1],
    "no default database": lambda d: d.client.get_default_database(),
    "codec options": lambda d: d.t.with_options(codec_options=1),
    "read preference": lambda d: d.t.with_options(read_preference=1),
    "write concern": lambda d: d.t.with_options(write_concern=1),
    "call collection": lambda d: d.t(),
    "call method": lambda d: d.t.foo(),
    "bool collection": lambda d: bool(d.t),
    "bool database": lambda d: bool(d.db),
    "iterate collection": lambda d: iter(d.t),
    "next collection": lambda d: next(d.t),
    "next database": lambda d: next(d.db),
    "underscore collection": lambda d: d.t._x,
    "underscore database": lambda d: d.db._x,
    "underscore client": lambda d: d.client._x,
    "dereference": lambda d: d.db.dereference(1),
    "dereference elsewhere": lambda d: d.db.dereference(bson.DBRef("t", 1, "other")),
    "drop_database": lambda d: d.client.drop_database(1),
    "drop_collection": lambda d: d.db.drop_collection(1),
    "session unacknowledged": lambda d: w(d, w=0).insert_one({}, session=d.client.start_session()),
    "session of snapshot and causal": lambda d: d.client.start_session(causal_consistency=True, snapshot=True),
    "matched_count unacknowledged": lambda d: w(d, w=0).update_one({}, {"$set": {"x": 1}}).matched_count,
}


def with_block(cursor: Any) -> Any:
    with cursor:
        first = next(cursor)
    return first, cursor.alive


def given_id(driver: Driver) -> Any:
    document: dict[str, Any] = {"a": 1}
    driver.t.insert_one(document)
    return document


ALL = [pytest.param(call, id=f"{group}: {name}") for group, calls in (
    ("read", READS), ("write", WRITES), ("management", MANAGEMENT), ("refusal", REFUSALS))
    for name, call in calls.items()]


@pytest.mark.parametrize("call", ALL)
def test_alike(drivers: tuple[Driver, Driver], call: Callable[[Driver], Any]) -> None:
    theirs, ours = (outcome(driver, call) for driver in drivers)
    assert ours.result == theirs.result
    assert ours.commands == theirs.commands


def test_too_large_documents_are_refused_before_a_byte_is_sent(drivers: tuple[Driver, Driver]) -> None:
    """PyMongo lets the server refuse inserts that are just over the limit, and all in insert_many."""
    ours = drivers[1]
    ours.prepare()
    over = {"x": "y" * (16 * 1024 * 1024)}
    for call in (lambda: ours.t.insert_one(dict(over)), lambda: ours.t.insert_many([dict(over)]),
                 lambda: ours.t.find_one({**over, "y": over["x"]}),
                 lambda: ours.t.replace_one({}, {**over, "y": over["x"]})):
        with pytest.raises(geomongo.errors.DocumentTooLarge, match="document sizes up to 16[0-9]{6} bytes"):
            call()
    assert ours.commands == []


def test_raw_aggregates_need_no_empty_first_batch(drivers: tuple[Driver, Driver]) -> None:
    """PyMongo asks for an empty first batch, which costs it another round trip."""
    theirs, ours = (outcome(driver, lambda d: b"".join(d.t.aggregate_raw_batches([], batchSize=4)))
                    for driver in drivers)
    assert ours.result == theirs.result
    assert [next(iter(command)) for command in ours.commands] == ["aggregate", "getMore", "getMore"]
