"""Exhaust cursors: one getMore, all batches, on a connection of the cursor's own."""
from __future__ import annotations

import gevent
import pytest

from geomongo import CursorType
from geomongo.errors import WaitQueueTimeoutError
from tests.integration.watching import until

pytestmark = pytest.mark.integration

EXHAUST_ALLOWED = 1 << 16


def exhaust(client, name, **options):
    return client[name].t.find({}, cursor_type=CursorType.EXHAUST, batch_size=3, **options)


def pool(client):
    [stats] = client.pool_stats()
    return stats


def test_all_documents_come_after_one_get_more(tapped, tap, ten):
    cursor = exhaust(tapped, ten)
    assert [document["_id"] for document in cursor] == list(range(10))
    [get_more] = tap.sent("getMore")
    assert get_more.flags == EXHAUST_ALLOWED
    assert get_more.connection == tap.sent("find")[0].connection
    assert (cursor.alive, cursor.cursor_id, cursor.retrieved) == (False, 0, 10)
    assert not tap.sent("killCursors")


def test_the_connection_of_a_read_cursor_is_used_again(tapped, tap, ten):
    exhaust(tapped, ten).to_list()
    tapped.admin.command("ping")
    assert tap.sent("ping")[0].connection == tap.sent("find")[0].connection
    assert (pool(tapped).size, pool(tapped).in_use, pool(tapped).idle) == (1, 0, 1)


@pytest.mark.parametrize("end", ["close", "drop", "with", "rewind"])
def test_ended_in_the_stream_it_closes_its_connection(tapped, tap, ten, end):
    cursor = exhaust(tapped, ten)
    assert [next(cursor)["_id"] for _ in range(5)] == list(range(5))
    assert pool(tapped).in_use == 1
    if end == "close":
        cursor.close()
    elif end == "drop":
        del cursor
    elif end == "with":
        with cursor:
            pass
    else:
        cursor.rewind()
    tap.wait_closed(tap.sent("find")[0].connection)
    assert pool(tapped).in_use == 0
    assert tapped.admin.command("ping")["ok"] == 1
    assert not tap.sent("killCursors") or end == "drop"


def test_ended_before_the_stream_began_it_is_killed_and_the_connection_kept(tapped, tap, ten):
    cursor = exhaust(tapped, ten)
    next(cursor)
    cursor.close()
    [find], [kill] = tap.sent("find"), tap.sent("killCursors")
    assert kill.connection == find.connection
    assert (pool(tapped).size, pool(tapped).in_use) == (1, 0)


def test_the_server_forgets_a_cursor_ended_in_the_stream(tapped, aside, ten):
    def open_cursors():
        return aside.admin.command("serverStatus")["metrics"]["cursor"]["open"]["total"]

    before = open_cursors()
    cursor = exhaust(tapped, ten)
    for _ in range(4):
        next(cursor)
    cursor.close()
    until(lambda: open_cursors() <= before)
    assert open_cursors() <= before


def test_others_work_meanwhile_on_other_connections(tapped, tap, ten):
    cursor = exhaust(tapped, ten)
    read = [next(cursor)["_id"] for _ in range(4)]
    workers = [gevent.spawn(tapped[ten].t.find_one, {"_id": number}) for number in range(5)]
    gevent.joinall(workers, raise_error=True)
    assert [worker.value["x"] for worker in workers] == list(range(5))
    mine = tap.sent("find")[0].connection
    assert all(find.connection != mine for find in tap.sent("find")[1:])
    assert read + [document["_id"] for document in cursor] == list(range(10))


def test_it_holds_its_connection_until_it_is_read(connect, ten):
    client = connect(maxPoolSize=1, waitQueueTimeoutMS=20)
    cursor = exhaust(client, ten)
    next(cursor)
    with pytest.raises(WaitQueueTimeoutError, match="maxPoolSize 1, in use 1"):
        client.admin.command("ping")
    assert len(cursor.to_list()) == 9
    assert client.admin.command("ping")["ok"] == 1


def test_a_kill_while_it_waits_leaves_the_pool_whole(tapped, tap, ten):
    cursor = exhaust(tapped, ten)
    for _ in range(3):
        next(cursor)
    tap.open.clear()
    timer = gevent.Timeout(0.01)
    with pytest.raises(gevent.Timeout) as raised, timer:
        next(cursor)
    assert raised.value is timer
    tap.wait_closed(tap.sent("find")[0].connection)
    tap.open.set()
    assert pool(tapped).in_use == 0
    assert not cursor.alive
    assert tapped.admin.command("ping")["ok"] == 1


def test_an_explicit_session_goes_with_every_batch(tapped, tap, ten):
    with tapped.start_session() as session:
        assert len(exhaust(tapped, ten, session=session).to_list()) == 10
        lsid = session.session_id
    assert [sent.command["lsid"] for sent in tap.sent("find", "getMore")] == [lsid] * 2


def test_raw_batches(tapped, ten):
    batches = list(tapped[ten].t.find_raw_batches({}, cursor_type=CursorType.EXHAUST, batch_size=4))
    assert len(batches) == 3
