"""Many greenlets, one client: everybody gets their own answer, and kills leave nothing behind."""
from __future__ import annotations

import gc
import os
import random
import weakref
from collections import Counter

import gevent
import pytest

from geomongo import MongoClient, ReturnDocument, UpdateOne
from geomongo.errors import PyMongoError
from tests.integration.watching import PATIENCE, Recorder, until

pytestmark = pytest.mark.integration

OPERATIONS = [
    lambda t, n: t.find_one({"_id": n})["x"] == n,
    lambda t, n: [document["x"] for document in t.find({"_id": {"$gte": n}}, batch_size=2, limit=4)] == [
        n, n + 1, n + 2, n + 3],
    lambda t, n: t.insert_one({"_id": ("new", n), "x": -1}).inserted_id == ("new", n),
    lambda t, n: t.update_one({"_id": n}, {"$set": {"seen": n}}).matched_count == 1,
    lambda t, n: t.find_one_and_update({"_id": n}, {"$inc": {"count": 1}},
                                       return_document=ReturnDocument.AFTER)["count"] == 1,
    lambda t, n: t.aggregate([{"$match": {"_id": n}}, {"$set": {"y": n}}]).next()["y"] == n,
    lambda t, n: t.count_documents({"_id": n}) == 1,
    lambda t, n: t.distinct("x", {"_id": n}) == [n],
    lambda t, n: t.bulk_write([UpdateOne({"_id": n}, {"$set": {"bulk": n}})]).matched_count == 1,
    lambda t, n: t.database.command("count", "t", query={"_id": n})["n"] == 1,
]


@pytest.fixture
def collection(connect, aside, name):
    """1,004 documents, and a client with ten connections."""
    aside[name].t.insert_many([{"_id": number, "x": number} for number in range(1_004)])
    return connect(maxPoolSize=10)[name].t


def stats(collection):
    [pool] = collection.database.client.pool_stats()
    return pool


def test_a_hundred_greenlets_on_ten_connections_get_their_own_answers(collection, ticker):
    def work(worker):
        return [operation(collection, worker * 10 + turn) for turn, operation in enumerate(OPERATIONS)]

    workers = [gevent.spawn(work, worker) for worker in range(100)]
    gevent.joinall(workers, timeout=60, raise_error=True)
    assert [worker.value for worker in workers] == [[True] * len(OPERATIONS)] * 100
    pool = stats(collection)
    assert 1 < pool.size <= 10
    assert (pool.in_use, pool.waiters, pool.idle) == (0, 0, pool.size)


def test_kills_at_any_moment_leave_the_pool_whole(collection):
    moments = random.Random(1)
    outcomes = Counter()

    def work(number):
        operation = OPERATIONS[number % len(OPERATIONS)]
        timer = gevent.Timeout(moments.uniform(0.0001, 0.02))
        try:
            with timer:
                operation(collection, number)
            outcomes["done"] += 1
        except gevent.Timeout as fired:
            outcomes["mine" if fired is timer else "another's"] += 1
        except PyMongoError as error:
            outcomes[repr(error)] += 1

    workers = [gevent.spawn(work, number) for number in range(300)]
    gevent.joinall(workers, timeout=60, raise_error=True)
    assert set(outcomes) <= {"done", "mine"}, outcomes
    assert outcomes["mine"] > 20
    assert (stats(collection).in_use, stats(collection).waiters) == (0, 0)
    after = [gevent.spawn(collection.find_one, {"_id": number}) for number in range(10)]
    gevent.joinall(after, timeout=PATIENCE, raise_error=True)
    assert [worker.value["x"] for worker in after] == list(range(10))
    assert stats(collection).size <= 10


def test_greenlets_killed_all_at_once(collection):
    workers = [gevent.spawn(lambda: [collection.find_one({"_id": number}) for number in range(1_000)])
               for _ in range(50)]
    while not stats(collection).waiters:
        gevent.sleep(0)
    gevent.killall(workers, timeout=PATIENCE)
    assert all(worker.dead for worker in workers)
    assert (stats(collection).in_use, stats(collection).waiters) == (0, 0)
    assert collection.find_one({"_id": 7})["x"] == 7


def test_cursors_killed_while_they_are_read(collection, connect):
    recorder = Recorder()
    reading = connect(maxPoolSize=5, event_listeners=[recorder])[collection.database.name].t

    def read():
        with reading.find({}, batch_size=2) as cursor:
            return sum(document["x"] for document in cursor)

    workers = [gevent.spawn(read) for _ in range(20)]
    recorder.wait_for("succeeded", "getMore", 100)
    gevent.killall(workers)
    until(lambda: (stats(reading).in_use, stats(reading).waiters) == (0, 0))
    kinds = Counter(recorder.kinds())
    assert kinds["started"] == kinds["succeeded"] + kinds["failed"]
    assert gevent.spawn(read).get(timeout=PATIENCE) == sum(range(1_004))


def test_work_goes_on_beside_a_slow_operation(connect, ten, fail):
    client = connect()
    client.admin.command("ping")
    with fail("aggregate", blockConnection=True, blockTimeMS=1500):
        slow = gevent.spawn(lambda: list(client[ten].t.aggregate([])))
        for _ in range(50):
            assert client[ten].t.find_one({"_id": 1})["x"] == 1
        assert not slow.ready()
        slow.kill()


def test_close_wakes_everyone(connect, ten, fail):
    client = connect(maxPoolSize=1)
    client.admin.command("ping")
    with fail("find", blockConnection=True, blockTimeMS=1500):
        workers = [gevent.spawn(client[ten].t.find_one) for _ in range(5)]
        until(lambda: client.pool_stats()[0].waiters == 4)
        client.close()
        gevent.joinall(workers, timeout=PATIENCE)
    assert all(isinstance(worker.exception, PyMongoError) for worker in workers)


def sockets():
    """File descriptors of this process that are sockets."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                found.append(number)
        except OSError:
            pass  # the descriptor of the listing itself
    return len(found)


@pytest.mark.parametrize("end", ["close", "drop", "with"])
def test_a_client_that_ends_leaves_no_socket_and_no_greenlet(uri, ten, aside, end):
    aside.admin.command("ping")
    gc.collect()
    gevent.sleep(0)
    before, connections = sockets(), aside.admin.command("serverStatus")["connections"]["current"]
    client = MongoClient(uri)
    gevent.joinall([gevent.spawn(client[ten].t.find_one) for _ in range(5)], raise_error=True)
    assert sockets() > before
    assert aside.admin.command("serverStatus")["connections"]["current"] > connections
    gone = weakref.ref(client)
    if end == "close":
        client.close()
    elif end == "with":
        with client:
            pass
    del client
    gc.collect()
    assert gone() is None
    until(lambda: sockets() <= before)
    until(lambda: aside.admin.command("serverStatus")["connections"]["current"] <= connections)
    gevent.sleep(0)
    gc.collect()
    alive = [each.name for each in gc.get_objects() if isinstance(each, gevent.Greenlet) and not each.dead]
    assert len([name for name in alive if "monitor" in name]) == 1  # that of `aside`


def test_a_database_or_a_cursor_keeps_its_client(uri, ten):
    collection = MongoClient(uri)[ten].t
    gc.collect()
    assert collection.find_one({"_id": 1})["x"] == 1
    find = collection.find({}, batch_size=2)
    del collection
    gc.collect()
    assert len(list(find)) == 10
    aggregate = MongoClient(uri)[ten].t.aggregate([], batchSize=2)
    gc.collect()
    assert len(list(aggregate)) == 10
    session = MongoClient(uri).start_session()
    gc.collect()
    assert session.client[ten].t.find_one({"_id": 1}, session=session)["x"] == 1
    session.end_session()
