"""How cursors end: read to the end, closed, dropped, left by a kill, or with their client."""
from __future__ import annotations

import gc

import gevent
import pytest

from geomongo.errors import CursorNotFound, InvalidOperation

pytestmark = pytest.mark.integration

END = object()


def opened(client, name, **options):
    """A cursor with a document read and more at the server."""
    cursor = client[name].t.find({}, batch_size=2, **options)
    next(cursor)
    return cursor


def over(cursor):
    """Whether the cursor ends after the rest of its batch, which may still be read."""
    return len(list(cursor)) <= 1 and not cursor.alive


def get_more(client, name, cursor_id, session=None):
    """Ask for more of a cursor that somebody else has opened."""
    return client[name].command({"getMore": cursor_id, "collection": "t"}, session=session)["cursor"]["nextBatch"]


def test_a_cursor_that_was_dropped_is_killed_in_the_background(connect, tap, ten):
    tapped = connect(tap.uri, maxPoolSize=1)
    cursor = opened(tapped, ten)
    cursor_id, [find] = cursor.cursor_id, tap.sent("find")
    del cursor
    assert not tap.sent("killCursors")  # dropping waits for nothing
    [kill] = tap.wait_for("killCursors")
    assert kill.command["cursors"] == [cursor_id]
    assert kill.command["killCursors"] == "t"
    assert kill.command["lsid"] == find.command["lsid"]
    # There is one connection: its next user comes when the server has answered.
    with pytest.raises(CursorNotFound):
        get_more(tapped, ten, cursor_id)


def test_the_session_of_a_dropped_cursor_is_used_again(connect, tap, ten):
    tapped = connect(tap.uri, maxPoolSize=1)
    opened(tapped, ten)
    tap.wait_for("killCursors")
    tapped.admin.command("ping")
    assert tap.sent("ping")[0].command["lsid"] == tap.sent("find")[0].command["lsid"]


@pytest.mark.parametrize("open_cursor", [
    lambda t: t.find({}, batch_size=2), lambda t: t.aggregate([], batchSize=2),
    lambda t: t.find_raw_batches({}, batch_size=2), lambda t: t.aggregate_raw_batches([], batchSize=2)],
    ids=["find", "aggregate", "raw find", "raw aggregate"])
def test_a_cursor_in_a_cycle_is_killed_when_the_collector_finds_it(tapped, tap, ten, open_cursor):
    cycle = [open_cursor(tapped[ten].t)]
    next(cycle[0])
    cycle.append(cycle)
    del cycle
    assert not tap.sent("killCursors")
    gc.collect()
    assert len(tap.wait_for("killCursors")) == 1


def test_many_dropped_at_once_are_all_killed(tapped, tap, ten):
    cursors = [opened(tapped, ten) for _ in range(20)]
    wanted = {cursor.cursor_id for cursor in cursors}
    del cursors
    killed = [cursor_id for kill in tap.wait_for("killCursors", 20) for cursor_id in kill.command["cursors"]]
    assert sorted(killed) == sorted(wanted)


@pytest.mark.parametrize("explicit", [False, True], ids=["implicit session", "explicit session"])
def test_close_sends_one_kill_and_waits_for_its_answer(client, recorder, ten, explicit):
    session = client.start_session() if explicit else None
    cursor = opened(client, ten, session=session)
    cursor_id = cursor.cursor_id
    cursor.close()
    assert recorder.kinds("killCursors") == ["started", "succeeded"]
    cursor.close()
    with cursor:
        pass
    del cursor
    gevent.sleep(0)
    client.admin.command("ping")
    assert [command["cursors"] for command in recorder.commands("killCursors")] == [[cursor_id]]


def test_what_was_read_or_never_opened_is_not_killed(tapped, tap, ten):
    for cursor in (tapped[ten].t.find(), tapped[ten].t.find({}, batch_size=3), tapped[ten].t.aggregate([])):
        assert len(list(cursor)) == 10
        cursor.close()
        del cursor
    tapped[ten].t.find().close()
    tapped[ten].t.find()
    tapped.admin.command("ping")
    assert not tap.sent("killCursors")


@pytest.mark.parametrize("leaving", [gevent.GreenletExit, gevent.Timeout], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("kind", ["find", "aggregate"])
def test_a_kill_that_leaves_a_with_block_waits_for_nothing(tapped, tap, ten, leaving, kind):
    collection = tapped[ten].t
    with pytest.raises(leaving), gevent.Timeout(10):
        with collection.find({}, batch_size=2) if kind == "find" else collection.aggregate([], batchSize=2) as cursor:
            next(cursor)
            tap.open.clear()  # no answer arrives from now on
            raise leaving()
    assert not tap.sent("killCursors")
    tap.open.set()
    tap.wait_for("killCursors")
    assert over(cursor)


@pytest.mark.parametrize("leaving", [None, ValueError], ids=["the end", "an error"])
def test_any_other_way_out_of_a_with_block_closes(client, recorder, ten, leaving):
    try:
        with client[ten].t.find({}, batch_size=2) as cursor:
            next(cursor)
            if leaving is not None:
                raise leaving
    except ValueError:
        pass
    assert recorder.kinds("killCursors") == ["started", "succeeded"]
    assert over(cursor)


def test_a_kill_during_close_is_the_greenlets_end(tapped, tap, ten):
    cursor = opened(tapped, ten)
    tap.open.clear()
    closer = gevent.spawn(cursor.close)
    tap.wait_for("killCursors")
    closer.kill(timeout=10)
    tap.open.set()
    assert isinstance(closer.value, gevent.GreenletExit)
    [stats] = tapped.pool_stats()
    assert (stats.in_use, stats.waiters) == (0, 0)


def test_a_lost_connection_does_not_make_close_fail(client, recorder, ten, fail):
    cursor = opened(client, ten)
    with fail("killCursors", closeConnection=True):
        cursor.close()
    assert recorder.kinds("killCursors") == ["started", "failed"]
    assert over(cursor)


def test_a_get_more_that_fails_ends_the_cursor(client, recorder, ten, fail):
    cursor = opened(client, ten)
    next(cursor)
    with fail("getMore", errorCode=43), pytest.raises(CursorNotFound):
        next(cursor)
    assert not cursor.alive
    assert next(cursor, END) is END
    cursor.close()
    assert recorder.commands("killCursors") == []


def test_a_closed_client_ends_its_cursors(connect, ten):
    client = connect()
    cursors = [opened(client, ten), client[ten].t.aggregate([], batchSize=1)]
    unopened = client[ten].t.find()
    next(cursors[0]), next(cursors[1])
    client.close()
    for cursor in (*cursors, unopened):
        with pytest.raises(InvalidOperation, match="Cannot use MongoClient after close"):
            next(cursor)
        cursor.close()
