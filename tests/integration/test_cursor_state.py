"""What a cursor tells of itself, and several cursors side by side."""
from __future__ import annotations

import bson
import gevent
import pytest

from geomongo.errors import InvalidOperation

pytestmark = pytest.mark.integration


def test_before_during_and_after(client, ten):
    collection = client[ten].t
    cursor = collection.find({}, batch_size=4)
    assert (cursor.cursor_id, cursor.address, cursor.retrieved, cursor.alive) == (None, None, 0, True)
    assert cursor.session is None and cursor.collection is collection
    seen = []
    for document in cursor:
        seen.append((document["_id"], cursor.retrieved, bool(cursor.cursor_id), cursor.alive))
    assert seen == [(number, min(4 * (number // 4 + 1), 10), number < 8, number < 9) for number in range(10)]
    assert (cursor.cursor_id, cursor.address, cursor.alive) == (0, client.address, False)


def test_a_command_cursor_before_during_and_after(client, ten):
    with client.start_session() as session:
        cursor = client[ten].t.aggregate([], batchSize=4, session=session)
        assert cursor.session is session
        assert cursor.address == client.address
        first = cursor.cursor_id
        assert first and cursor.alive
        assert [document["_id"] for document in cursor] == list(range(10))
        assert (cursor.cursor_id, cursor.alive) == (0, False)
    assert client[ten].t.aggregate([]).session is None


def test_the_session_of_a_cursor_is_the_explicit_one(client, ten):
    with client.start_session() as session:
        cursor = client[ten].t.find({}, session=session, batch_size=3)
        assert cursor.session is session
        assert len(list(cursor)) == 10
        assert cursor.clone().session is session
        assert not session.has_ended


def test_two_clones_read_at_once_do_not_disturb_each_other(client, ten):
    cursor = client[ten].t.find({}, batch_size=2).sort("_id", -1)
    first, second = cursor.clone(), cursor.clone()
    readers = [gevent.spawn(lambda one=one: [document["_id"] for document in one]) for one in (first, second)]
    gevent.joinall(readers, raise_error=True)
    assert [reader.value for reader in readers] == [list(range(9, -1, -1))] * 2
    assert cursor.cursor_id is None and first is not second


def test_two_clones_read_in_turns(client, ten):
    cursor = client[ten].t.find({}, batch_size=3)
    pairs = list(zip(cursor, cursor.clone()))
    assert [(left["_id"], right["_id"]) for left, right in pairs] == [(number, number) for number in range(10)]


def test_rewind_in_the_middle_reads_again(client, recorder, ten):
    cursor = client[ten].t.find({}, batch_size=3)
    for _ in range(5):
        next(cursor)
    assert cursor.rewind() is cursor
    assert cursor.retrieved == 0
    assert [document["_id"] for document in cursor] == list(range(10))
    assert len(recorder.commands("killCursors")) == 1


def test_options_are_fixed_once_it_is_read(client, ten):
    cursor = client[ten].t.find({}, batch_size=3)
    next(cursor)
    for change in (lambda: cursor.limit(1), lambda: cursor.batch_size(5), lambda: cursor.max_await_time_ms(5),
                   lambda: cursor.sort("x"), lambda: cursor[0]):
        with pytest.raises(InvalidOperation, match="cannot set options after executing query"):
            change()
    cursor.close()


@pytest.mark.parametrize("count", [10, 3000], ids=["small", "large"])
def test_raw_batches_are_the_encoded_documents(client, aside, name, count):
    documents = [{"_id": number, "s": "x" * (number % 50), "nested": {"a": [1, 2.5, None]}} for number in range(count)]
    aside[name].t.insert_many(documents)
    wanted = b"".join(bson.encode(document) for document in documents)
    collection = client[name].t
    size = count // 3 + 1
    for cursor in (collection.find_raw_batches({}, batch_size=size),
                   collection.aggregate_raw_batches([], batchSize=size)):
        batches = list(cursor)
        assert b"".join(batches) == wanted
        assert [len(bson.decode_all(batch)) for batch in batches] == [size, size, count - 2 * size]
        assert not cursor.alive


def test_raw_batches_of_nothing(client, name):
    assert list(client[name].t.find_raw_batches()) == []
    assert list(client[name].t.aggregate_raw_batches([])) == []


def test_to_list_in_parts(client, ten):
    cursor = client[ten].t.find({}, batch_size=4)
    parts = [[document["_id"] for document in cursor.to_list(3)] for _ in range(5)]
    assert parts == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9], []]
