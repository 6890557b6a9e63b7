"""Retryable reads and writes: one more attempt, with the same number, and only where that is safe."""
from __future__ import annotations

import gevent
import pytest

from geomongo import DeleteMany, InsertOne, UpdateMany, UpdateOne
from geomongo.errors import AutoReconnect, BulkWriteError, NotPrimaryError, OperationFailure
from tests.integration.watching import Recorder

pytestmark = pytest.mark.integration

READS = {
    "find": lambda t: t.find_one(), "aggregate": lambda t: list(t.aggregate([])), "distinct": lambda t: t.distinct("x"),
    "count": lambda t: t.estimated_document_count(), "listIndexes": lambda t: list(t.list_indexes()),
    "listCollections": lambda t: list(t.database.list_collections()),
    "listDatabases": lambda t: t.database.client.list_database_names(),
}
WRITES = {
    "insert": lambda t: t.insert_one({"_id": 50}),
    "insert many": lambda t: t.insert_many([{"_id": 50}, {"_id": 51}]),
    "update": lambda t: t.update_one({"_id": 1}, {"$inc": {"n": 1}}),
    "update by replacement": lambda t: t.replace_one({"_id": 1}, {"n": 1}),
    "delete": lambda t: t.delete_one({"_id": 1}),
    "findAndModify": lambda t: t.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}}),
    "insert in bulk": lambda t: t.bulk_write([InsertOne({"_id": 50}), UpdateOne({"_id": 1}, {"$set": {"n": 1}})]),
}
NEVER = {
    "update": lambda t: t.update_many({}, {"$inc": {"n": 1}}), "delete": lambda t: t.delete_many({"x": -1}),
    "update in bulk": lambda t: t.bulk_write([UpdateMany({}, {"$inc": {"n": 1}})]),
    "delete in bulk": lambda t: t.bulk_write([DeleteMany({"x": -1})]),
    "getMore": lambda t: list(t.find({}, batch_size=2)), "aggregate": lambda t: list(t.aggregate([{"$out": "o"}])),
    "count": lambda t: t.database.command("count", "t"), "createIndexes": lambda t: t.create_index("x"),
}


def command_of(operation):
    """The command that an operation is about."""
    return operation.split()[0]


@pytest.mark.parametrize("operation", READS)
def test_a_read_is_tried_twice(client, recorder, ten, fail, operation):
    with fail(operation, times=1, closeConnection=True):
        assert READS[operation](client[ten].t)
    assert recorder.kinds(operation) == ["started", "failed", "started", "succeeded"]
    assert "txnNumber" not in recorder.commands(operation)[1]


@pytest.mark.parametrize("operation", WRITES)
def test_a_write_is_tried_twice_under_one_number(client, recorder, ten, fail, operation):
    command = command_of(operation)
    with fail(command, times=1, closeConnection=True):
        WRITES[operation](client[ten].t)
    assert recorder.kinds(command) == ["started", "failed", "started", "succeeded"]
    first, second = recorder.commands(command)
    assert first["txnNumber"] == second["txnNumber"] and first["lsid"] == second["lsid"]
    assert {name: value for name, value in first.items() if name != "$clusterTime"} \
        == {name: value for name, value in second.items() if name != "$clusterTime"}


def test_the_write_of_a_lost_answer_happens_once(client, ten, fail):
    """The server has done it, and fails to say so: it knows the number when it comes again."""
    with fail("update", times=1, writeConcernError={"code": 91, "errmsg": "shutting down",
                                                    "errorLabels": ["RetryableWriteError"]}):
        client[ten].t.update_one({"_id": 1}, {"$inc": {"x": 1}})
    assert client[ten].t.find_one({"_id": 1})["x"] == 2


@pytest.mark.parametrize("operation", ["find", "aggregate", "insert", "insert many", "findAndModify"])
def test_two_failures_are_one_too_many(client, recorder, ten, fail, operation):
    command = command_of(operation)
    with fail(command, times=2, closeConnection=True), pytest.raises(AutoReconnect, match=r"\d+: .*phase: receive"):
        {**READS, **WRITES}[operation](client[ten].t)
    assert recorder.kinds(command) == ["started", "failed"] * 2
    recorder.clear()
    assert client[ten].t.find_one({"_id": 2})["x"] == 2


@pytest.mark.parametrize("operation", ["find", "listCollections", "insert", "insert in bulk", "delete"])
def test_without_retries_the_first_failure_is_raised(connect, recorder, ten, fail, operation):
    client = connect(retryReads=False, retryWrites=False, event_listeners=[recorder])
    command = command_of(operation)
    with fail(command, times=1, closeConnection=True), pytest.raises(AutoReconnect):
        {**READS, **WRITES}[operation](client[ten].t)
    assert recorder.kinds(command) == ["started", "failed"]
    assert "txnNumber" not in recorder.commands(command)[0]


@pytest.mark.parametrize("operation", NEVER)
def test_what_is_never_tried_twice(client, recorder, ten, fail, operation):
    command = command_of(operation)
    with fail(command, times=1, closeConnection=True), pytest.raises(AutoReconnect):
        NEVER[operation](client[ten].t)
    assert recorder.kinds(command) == ["started", "failed"]
    assert all("txnNumber" not in sent for sent in recorder.commands(command))


@pytest.mark.parametrize("code, tried", [(11602, 2), (91, 2), (189, 2), (10107, 2), (13435, 2), (6, 2), (7, 2), (89, 2),
                                         (9001, 2), (134, 2), (262, 2), (11600, 2), (13436, 2), (2, 1), (50, 1)])
def test_codes_that_a_read_is_retried_for(client, recorder, ten, fail, code, tried):
    with fail("find", times=1, errorCode=code):
        if tried == 2:
            assert client[ten].t.find_one({"_id": 1})["x"] == 1
        else:
            with pytest.raises(OperationFailure) as raised:
                client[ten].t.find_one()
            assert raised.value.code == code
    assert len(recorder.commands("find")) == tried


@pytest.mark.parametrize("labels, tried", [(["RetryableWriteError"], 2), ([], 1)])
def test_the_server_says_which_writes_are_retried(client, recorder, ten, fail, labels, tried):
    with fail("insert", times=1, errorCode=2, errorLabels=labels):
        if tried == 2:
            client[ten].t.insert_one({"_id": 50})
        else:
            with pytest.raises(OperationFailure):
                client[ten].t.insert_one({"_id": 50})
    assert len(recorder.commands("insert")) == tried


@pytest.mark.parametrize("label, raised_code", [("NoWritesPerformed", 91), ("RetryableWriteError", 10107)])
def test_which_of_two_errors_is_raised(connect, aside, ten, fail, label, raised_code):
    """The second, unless it says that its attempt wrote nothing: then the first tells more."""
    class Second(Recorder):
        def failed(self, event):
            data = {"failCommands": ["insert"], "errorCode": 10107, "errorLabels": ["RetryableWriteError", label]}
            aside.admin.command({"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": data})

    with fail("insert", times=1, errorCode=91, errorLabels=["RetryableWriteError"]):
        with pytest.raises(NotPrimaryError) as raised:
            connect(event_listeners=[Second()])[ten].t.insert_one({"_id": 50})
    assert raised.value.details["code"] == raised_code
    assert raised.value.has_error_label("RetryableWriteError")


def test_numbers_go_up_within_a_session(client, recorder, ten):
    with client.start_session() as session:
        for number in range(3):
            client[ten].t.insert_one({"_id": 50 + number}, session=session)
    numbers = [command["txnNumber"] for command in recorder.commands("insert")]
    assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]


def test_a_kill_is_not_retried(client, recorder, ten, fail):
    with fail("find", times=1, blockConnection=True, blockTimeMS=1500):
        with pytest.raises(gevent.Timeout), gevent.Timeout(0.02):
            client[ten].t.find_one()
    assert recorder.kinds("find") == ["started", "failed"]


def test_a_batch_that_fails_twice_tells_what_was_done_before(connect, recorder, ten, fail):
    client = connect(event_listeners=[recorder])
    operations = [InsertOne({"_id": 50}), UpdateOne({"_id": 50}, {"$set": {"n": 1}})]
    with fail("update", times=2, closeConnection=True), pytest.raises((AutoReconnect, BulkWriteError)):
        client[ten].t.bulk_write(operations)
    assert client[ten].t.find_one({"_id": 50}) == {"_id": 50}
    assert len(recorder.commands("update")) == 2


def test_the_session_of_a_failed_operation_is_not_used_again(client, recorder, ten, fail):
    with fail("find", times=2, closeConnection=True), pytest.raises(AutoReconnect):
        client[ten].t.find_one()
    client[ten].t.find_one()
    first, second, after = [command["lsid"] for command in recorder.commands("find")]
    assert first == second != after
