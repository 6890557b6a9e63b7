"""Command events: exactly one end for each start, whatever comes between."""
from __future__ import annotations

import datetime
from collections import Counter

import gevent
import pytest

from geomongo import WriteConcern, monitoring
from geomongo.errors import AutoReconnect, BulkWriteError, DuplicateKeyError, OperationFailure
from tests.integration.watching import Recorder

pytestmark = pytest.mark.integration


def test_success(client, recorder, ten):
    client[ten].t.find_one({"_id": 1})
    assert recorder.kinds("find") == ["started", "succeeded"]
    started, succeeded = recorder.events("find")
    assert started.command["filter"] == {"_id": 1} and started.command["$db"] == ten
    assert succeeded.reply["cursor"]["firstBatch"] == [{"_id": 1, "x": 1}] and succeeded.reply["ok"] == 1
    assert 0 < succeeded.duration_micros < 60_000_000
    for event in (started, succeeded):
        assert (event.command_name, event.database_name, event.connection_id) == ("find", ten, client.address)
        assert event.request_id == started.request_id and event.operation_id == started.operation_id
        assert event.server_connection_id == started.server_connection_id > 0
        assert event.service_id is None


def test_an_error_of_the_server(client, recorder, ten):
    with pytest.raises(OperationFailure) as raised:
        client[ten].t.find_one({"$foo": 1})
    assert recorder.kinds() == ["started", "failed"]
    failed = recorder.events("find", kind="failed")[0]
    assert failed.failure["code"] == raised.value.code and failed.failure["ok"] == 0
    assert failed.failure["errmsg"] in str(raised.value)


def test_write_errors_are_successful_commands(client, recorder, ten):
    with pytest.raises(DuplicateKeyError):
        client[ten].t.insert_one({"_id": 1})
    with pytest.raises(BulkWriteError):
        client[ten].t.insert_many([{"_id": 1}, {"_id": 2}])
    assert recorder.kinds("insert") == ["started", "succeeded"] * 2
    assert recorder.events("insert", kind="succeeded")[0].reply["writeErrors"][0]["code"] == 11000


def test_a_network_error(client, recorder, ten, fail):
    with fail("find", times=2, closeConnection=True), pytest.raises(AutoReconnect):
        client[ten].t.find_one()
    assert recorder.kinds("find") == ["started", "failed"] * 2
    for failed in recorder.events("find", kind="failed"):
        assert "the server closed the connection" in failed.failure["errmsg"]
        assert failed.failure["errtype"] == "AutoReconnect"


@pytest.mark.parametrize("death", ["timeout", "kill"])
@pytest.mark.parametrize("slow", ["find", "insert", "getMore"])
def test_a_kill_in_the_middle(client, recorder, ten, fail, death, slow):
    collection = client[ten].t
    operation = {"find": collection.find_one, "insert": lambda: collection.insert_one({}),
                 "getMore": lambda: list(collection.find({}, batch_size=2))}[slow]
    with fail(slow, blockConnection=True, blockTimeMS=1500):
        worker = gevent.spawn(operation)
        recorder.wait_for("started", slow)
        if death == "kill":
            worker.kill()
        else:
            worker.kill(gevent.Timeout(0, "mine"))
    assert recorder.kinds(slow) == ["started", "failed"]
    [failed] = recorder.events(slow, kind="failed")
    assert failed.failure["errtype"] == ("GreenletExit" if death == "kill" else "Timeout")


def test_an_unacknowledged_write_succeeds_when_it_is_sent(client, recorder, ten):
    client[ten].t.with_options(write_concern=WriteConcern(w=0)).insert_one({"_id": 20})
    assert recorder.kinds("insert") == ["started", "succeeded"]
    started, succeeded = recorder.events("insert")
    assert succeeded.reply == {"ok": 1}
    assert started.command["documents"] == [{"_id": 20}]


def test_statements_of_writes_are_shown(client, recorder, ten):
    client[ten].t.update_one({"_id": 1}, {"$set": {"when": datetime.datetime(2024, 1, 1)}})
    client[ten].t.insert_many([{"_id": 20}, {"_id": 21}])
    client[ten].t.delete_many({"x": 1})
    [update], [insert], [delete] = [recorder.commands(name) for name in ("update", "insert", "delete")]
    assert update["updates"][0]["u"] == {"$set": {"when": datetime.datetime(2024, 1, 1)}}
    assert insert["documents"] == [{"_id": 20}, {"_id": 21}]
    assert delete["deletes"] == [{"q": {"x": 1}, "limit": 0}]


def test_every_batch_is_shown_as_it_came(client, recorder, aside, name):
    aside[name].t.insert_many([{"_id": number, "s": "x" * 100} for number in range(2_000)])
    list(client[name].t.find({}, batch_size=1_500))
    first, second = recorder.events("find", "getMore", kind="succeeded")
    assert [document["_id"] for document in first.reply["cursor"]["firstBatch"]] == list(range(1_500))
    assert [document["_id"] for document in second.reply["cursor"]["nextBatch"]] == list(range(1_500, 2_000))
    assert second.reply["cursor"]["id"] == 0


class Broken(monitoring.CommandListener):
    """Raises whatever happens."""

    def started(self, event):
        raise ValueError("broken when started")

    def succeeded(self, event):
        raise ValueError("broken when succeeded")

    def failed(self, event):
        raise ValueError("broken when failed")


def test_a_listener_that_raises_disturbs_nobody(connect, ten, capsys):
    recorder = Recorder()
    client = connect(event_listeners=[Broken(), recorder])
    assert client[ten].t.find_one({"_id": 1})["x"] == 1
    with pytest.raises(OperationFailure):
        client[ten].t.find_one({"$foo": 1})
    assert recorder.kinds() == ["started", "succeeded", "started", "failed"]
    printed = capsys.readouterr().err
    for kind, times in (("started", 2), ("succeeded", 1), ("failed", 1)):
        assert printed.count(f"ValueError: broken when {kind}") == times


class Waiting(Recorder):
    """Gives up the hub in every event, as a listener that sends spans may."""

    def started(self, event):
        gevent.sleep(0.001)
        super().started(event)

    def succeeded(self, event):
        gevent.sleep(0.001)
        super().succeeded(event)


def test_a_listener_that_waits_disturbs_nobody(connect, ten):
    recorder = Waiting()
    client = connect(event_listeners=[recorder], maxPoolSize=3)
    workers = [gevent.spawn(client[ten].t.find_one, {"_id": number % 10}) for number in range(30)]
    gevent.joinall(workers, raise_error=True)
    assert [worker.value["x"] for worker in workers] == [number % 10 for number in range(30)]
    assert Counter(recorder.kinds()) == {"started": 30, "succeeded": 30}


def test_a_kill_in_a_listener_leaves_the_pool_whole(connect, ten):
    recorder = Waiting()
    client = connect(event_listeners=[recorder], maxPoolSize=1)
    client.admin.command("ping")
    for _ in range(5):
        with pytest.raises(gevent.Timeout), gevent.Timeout(0.0005):
            client[ten].t.find_one()
    [stats] = client.pool_stats()
    assert (stats.in_use, stats.waiters) == (0, 0)
    assert client[ten].t.find_one({"_id": 1})["x"] == 1


SENSITIVE = ["saslStart", "saslContinue", "getnonce", "createUser", "updateUser", "copydb", "copydbgetnonce",
             "copydbsaslstart", "authenticate"]


@pytest.mark.parametrize("name", SENSITIVE)
def test_what_may_hold_a_secret_is_not_shown(client, recorder, name):
    client.admin.command({name: 1, "pwd": "hunter2", "payload": "hunter2"}, check=False)
    with pytest.raises(OperationFailure):
        client.admin.command({name: 1, "pwd": "hunter2", "mechanism": 3, "hunter2": "hunter2", "roles": 7})
    started, succeeded, again, failed = recorder.events(name)
    assert started.command == again.command == {} and succeeded.reply == {}
    assert set(failed.failure) <= {"ok", "code", "codeName", "errorLabels"}
    assert "hunter2" not in repr([started, succeeded, failed, failed.failure])


def test_a_hello_that_authenticates_is_not_shown(client, recorder):
    client.admin.command({"hello": 1, "speculativeAuthenticate": {"saslStart": 1, "payload": "hunter2"}}, check=False)
    client.admin.command("hello")
    secret, plain = recorder.events("hello", kind="started")
    assert secret.command == {} and plain.command["hello"] == 1
