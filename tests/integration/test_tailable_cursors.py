"""Tailable cursors on a capped collection: a second greenlet inserts what the first one waits for."""
from __future__ import annotations

import gevent
import pytest

from geomongo import CursorType
from tests.integration.watching import PATIENCE

pytestmark = pytest.mark.integration


@pytest.fixture
def capped(client, aside, name, recorder):
    """A capped collection with two documents."""
    aside[name].create_collection("t", capped=True, size=100_000)
    aside[name].t.insert_many([{"_id": 0}, {"_id": 1}])
    client.admin.command("ping")
    recorder.clear()
    return client[name].t


def test_tailable_ends_for_now_and_goes_on(capped, recorder):
    cursor = capped.find({}, cursor_type=CursorType.TAILABLE)
    assert [document["_id"] for document in cursor] == [0, 1]
    assert cursor.alive and cursor.cursor_id
    assert list(cursor) == []
    capped.insert_one({"_id": 2})
    assert [document["_id"] for document in cursor] == [2]
    [find] = recorder.commands("find")
    assert find["tailable"] is True and "awaitData" not in find
    assert all("maxTimeMS" not in command for command in recorder.commands("getMore"))
    cursor.close()
    assert not cursor.alive


def test_await_data_waits_for_the_second_greenlet(capped, recorder, ticker):
    cursor = capped.find({}, cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(int(PATIENCE * 1000))
    assert [next(cursor)["_id"], next(cursor)["_id"]] == [0, 1]
    reader = gevent.spawn(next, cursor)
    recorder.wait_for("started", "getMore")
    assert not reader.ready()
    capped.insert_one({"_id": 2})
    assert reader.get(timeout=PATIENCE / 2) == {"_id": 2}
    # The answer came while the getMore was waiting: no second one was needed.
    assert len(recorder.commands("getMore")) == 1
    cursor.close()


def test_the_longest_wait_goes_with_every_get_more_and_not_with_the_find(capped, recorder):
    cursor = capped.find({}, cursor_type=CursorType.TAILABLE_AWAIT, max_time_ms=5000).max_await_time_ms(20)
    assert len(list(cursor)) == 2
    assert list(cursor) == []
    assert cursor.alive
    [find] = recorder.commands("find")
    assert (find["tailable"], find["awaitData"], find["maxTimeMS"]) == (True, True, 5000)
    assert [command["maxTimeMS"] for command in recorder.commands("getMore")] == [20, 20]
    cursor.close()


def test_other_cursors_do_not_wait(capped, recorder):
    cursor = capped.find({}, batch_size=1).max_await_time_ms(20)
    assert len(list(cursor)) == 2
    assert all("maxTimeMS" not in command for command in recorder.commands("find", "getMore"))


def test_a_kill_while_it_waits(capped, recorder):
    cursor = capped.find({}, cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(int(PATIENCE * 1000))
    assert [next(cursor)["_id"], next(cursor)["_id"]] == [0, 1]
    reader = gevent.spawn(next, cursor)
    recorder.wait_for("started", "getMore")
    reader.kill(timeout=PATIENCE / 2)
    assert reader.dead
    assert recorder.kinds("getMore") == ["started", "failed"]
    assert not cursor.alive
    [stats] = capped.database.client.pool_stats()
    assert stats.in_use == 0
    assert capped.find_one() == {"_id": 0}


def test_an_empty_collection_ends_it_at_once(client, aside, name):
    aside[name].create_collection("t", capped=True, size=100_000)
    cursor = client[name].t.find({}, cursor_type=CursorType.TAILABLE)
    assert list(cursor) == []
    # The server opens no cursor on a capped collection without documents.
    assert cursor.alive == bool(cursor.cursor_id)
    cursor.close()
    assert not cursor.alive


def test_two_readers_of_one_collection(capped):
    cursors = [capped.find({}, cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(int(PATIENCE * 1000))
               for _ in range(2)]
    readers = [gevent.spawn(lambda cursor=cursor: [next(cursor)["_id"] for _ in range(4)]) for cursor in cursors]
    gevent.spawn(lambda: [capped.insert_one({"_id": number}) for number in (2, 3)]).get()
    gevent.joinall(readers, timeout=PATIENCE, raise_error=True)
    assert [reader.value for reader in readers] == [[0, 1, 2, 3]] * 2
    for cursor in cursors:
        cursor.close()
