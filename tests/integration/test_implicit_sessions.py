"""Implicit sessions: one with every command that is answered, used again as soon as it is free."""
from __future__ import annotations

import gevent
import pytest
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from geomongo import InsertOne, UpdateOne, WriteConcern

pytestmark = pytest.mark.integration

OPERATIONS = {
    "find_one": lambda t: t.find_one(), "find": lambda t: list(t.find({}, batch_size=3)),
    "aggregate": lambda t: list(t.aggregate([], batchSize=3)), "count": lambda t: t.count_documents({}),
    "estimate": lambda t: t.estimated_document_count(), "distinct": lambda t: t.distinct("x"),
    "insert_one": lambda t: t.insert_one({}), "insert_many": lambda t: t.insert_many([{}, {}]),
    "update_one": lambda t: t.update_one({}, {"$set": {"y": 1}}),
    "update_many": lambda t: t.update_many({}, {"$set": {"y": 1}}),
    "replace_one": lambda t: t.replace_one({"_id": 1}, {"x": 1}), "delete_one": lambda t: t.delete_one({}),
    "delete_many": lambda t: t.delete_many({"x": 1}),
    "bulk_write": lambda t: t.bulk_write([InsertOne({}), UpdateOne({}, {"$set": {"y": 1}})]),
    "find_one_and_update": lambda t: t.find_one_and_update({}, {"$set": {"y": 1}}),
    "find_one_and_delete": lambda t: t.find_one_and_delete({}), "create_index": lambda t: t.create_index("x"),
    "list_indexes": lambda t: list(t.list_indexes()), "index_information": lambda t: t.index_information(),
    "options": lambda t: t.options(), "drop_indexes": lambda t: t.drop_indexes(),
    "rename": lambda t: t.rename("u"), "drop": lambda t: t.drop(),
    "create_collection": lambda t: t.database.create_collection("v"),
    "list_collections": lambda t: list(t.database.list_collections()),
    "command": lambda t: t.database.command("ping"),
    "list_databases": lambda t: list(t.database.client.list_databases()),
    "server_info": lambda t: t.database.client.server_info(), "explain": lambda t: t.find().explain(),
    "drop_database": lambda t: t.database.client.drop_database(t.database),
}


def ids(commands):
    return [bytes(command["lsid"]["id"]) for command in commands]


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_every_command_has_the_one_session_there_is(client, recorder, ten, operation):
    client.admin.command("ping")
    operation(client[ten].t)
    operation_ids = ids(recorder.commands())
    assert len(operation_ids) >= 2
    assert len(set(operation_ids)) == 1


UNACKNOWLEDGED = {
    "insert_one": lambda t: t.insert_one({}), "insert_many": lambda t: t.insert_many([{}, {}]),
    "update_one": lambda t: t.update_one({}, {"$set": {"y": 1}}),
    "update_many": lambda t: t.update_many({}, {"$set": {"y": 1}}),
    "delete_one": lambda t: t.delete_one({"x": -1}), "bulk_write": lambda t: t.bulk_write([InsertOne({})]),
}


@pytest.mark.parametrize("operation", UNACKNOWLEDGED.values(), ids=UNACKNOWLEDGED.keys())
def test_unacknowledged_writes_have_none(client, recorder, ten, operation):
    client.admin.command("ping")
    recorder.clear()
    assert operation(client[ten].t.with_options(write_concern=WriteConcern(w=0))).acknowledged is False
    [command] = recorder.commands()
    assert "lsid" not in command and "txnNumber" not in command
    assert command["writeConcern"] == {"w": 0}
    client.admin.command("ping")  # the server has done with the write: same connection


@pytest.mark.parametrize("kind", ["find", "aggregate"])
def test_a_cursor_keeps_its_session_until_it_is_exhausted(client, recorder, ten, kind):
    collection = client[ten].t
    cursor = collection.find({}, batch_size=4) if kind == "find" else collection.aggregate([], batchSize=4)
    next(cursor)
    client.admin.command("ping")  # meanwhile, in another session
    assert len(list(cursor)) == 9
    client.admin.command("ping")
    [cursors] = set(ids(recorder.commands(kind, "getMore")))
    assert len(recorder.commands("getMore")) == 2
    first, second = ids(recorder.commands("ping"))
    assert first != cursors
    # Last in, first out: the cursor's came back last.
    assert second == cursors


def test_a_cursor_of_one_batch_gives_its_session_back_at_once(client, recorder, ten):
    cursor = client[ten].t.find()
    next(cursor)
    client.admin.command("ping")
    [[find], [ping]] = [ids(recorder.commands(name)) for name in ("find", "ping")]
    assert find == ping


@pytest.mark.parametrize("end", ["close", "error"])
def test_a_cursor_that_ends_early_gives_its_session_back(client, recorder, ten, end, fail):
    cursor = client[ten].t.find({}, batch_size=2)
    next(cursor)
    if end == "close":
        cursor.close()
    else:
        with fail("getMore", errorCode=43), pytest.raises(Exception, match="43"):
            list(cursor)
    client.admin.command("ping")
    assert len(set(ids(recorder.commands()))) == 1


def test_as_many_sessions_as_operations_at_once(client, recorder, ten):
    client.admin.command("ping")
    for _ in range(3):
        workers = [gevent.spawn(client[ten].t.find_one) for _ in range(8)]
        gevent.joinall(workers, raise_error=True)
    distinct = set(ids(recorder.commands("find")))
    assert 1 < len(distinct) <= 8
    for _ in range(20):
        client[ten].t.find_one()
    assert set(ids(recorder.commands("find"))) == distinct


def test_an_abandoned_operations_session_is_not_used_again(client, recorder, ten, fail):
    client.admin.command("ping")
    with fail("find", blockConnection=True, blockTimeMS=1500):
        with pytest.raises(gevent.Timeout), gevent.Timeout(0.01):
            client[ten].t.find_one()
    client.admin.command("ping")
    [spoilt] = ids(recorder.commands("find"))
    before, after = ids(recorder.commands("ping"))
    assert before == spoilt and after != spoilt


def test_an_operation_that_the_server_refused_gives_its_session_back(client, recorder, ten):
    for _ in range(3):
        with pytest.raises(Exception, match="foo"):
            client[ten].t.find_one({"$foo": 1})
    assert len(set(ids(recorder.commands("find")))) == 1


def test_close_ends_the_sessions_that_were_used(connect, tap, ten):
    client = connect(tap.uri)
    workers = [gevent.spawn(client[ten].t.find_one) for _ in range(5)]
    gevent.joinall(workers, raise_error=True)
    used = set(ids(sent.command for sent in tap.sent("find")))
    client.close()
    [end] = tap.sent("endSessions")
    assert {bytes(lsid["id"]) for lsid in end.command["endSessions"]} == used
    assert end.command["$db"] == "admin"
    client.close()
    assert len(tap.sent("endSessions")) == 1


def test_close_of_a_client_that_did_nothing_sends_nothing(connect, tap):
    client = connect(tap.uri)
    client.close()
    assert tap.sent("endSessions") == []


@pytest.mark.parametrize("document", [{"x": 1}, {"_id": 5, "x": 1}])
def test_documents_and_filters_stay_as_they_are_but_for_the_id(client, name, document):
    collection = client[name].t
    given = dict(document)
    collection.insert_one(given)
    assert {**given, "_id": 0} == {**document, "_id": 0}
    query, update, command = {"x": 1}, {"$set": {"y": 1}}, {"find": "t"}
    pipeline, many = [{"$match": {"x": 1}}], [{"x": 2}]
    collection.find_one(query), list(collection.find(query)), list(collection.aggregate(pipeline))
    collection.update_one(query, update), collection.insert_many(many), client[name].command(command)
    collection.bulk_write([UpdateOne(query, update)]), collection.find_one_and_update(query, update)
    assert (query, update, command, pipeline) == ({"x": 1}, {"$set": {"y": 1}}, {"find": "t"}, [{"$match": {"x": 1}}])
    assert sorted(many[0]) == ["_id", "x"]


def test_a_raw_document_is_inserted_as_it_is(client, name):
    source = client[name].t
    source.insert_one({"_id": 1, "x": 1})
    raw = source.with_options(codec_options=CodecOptions(document_class=RawBSONDocument)).find_one()
    before = raw.raw
    client[name].u.insert_one(raw)
    client[name].v.insert_many([raw])
    assert raw.raw == before
    assert client[name].u.find_one() == client[name].v.find_one() == {"_id": 1, "x": 1}
