"""Server sessions: last in, first out; stale and dirty ones go."""
from __future__ import annotations

import pytest

from geomongo._deployment.session_pool import ServerSession, SessionPool


@pytest.fixture
def pool():
    sessions = SessionPool()
    sessions.set_timeout_minutes(30)
    return sessions


def test_ids_are_unique_and_of_the_uuid_subtype(pool):
    ids = [pool.acquire(0.0).lsid["id"] for _ in range(100)]
    assert len(set(ids)) == 100
    assert {(identity.subtype, len(identity)) for identity in ids} == {(4, 16)}


def test_last_in_first_out(pool):
    one, two = pool.acquire(0.0), pool.acquire(0.0)
    pool.release(one, 0.0)
    pool.release(two, 0.0)
    assert [pool.acquire(0.0), pool.acquire(0.0)] == [two, one]
    assert len(pool) == 0


@pytest.mark.parametrize(("idle", "reused"), [(0.0, True), (29 * 60.0, True), (29 * 60.0 + 0.1, False), (1e9, False)])
def test_a_session_with_less_than_a_minute_left_is_not_used_again(pool, idle, reused):
    session = pool.acquire(100.0)
    pool.release(session, 100.0)
    assert (pool.acquire(100.0 + idle) is session) is reused


def test_a_session_that_went_stale_in_use_does_not_come_back(pool):
    session = pool.acquire(0.0)
    pool.release(session, 29 * 60.0 + 1)
    assert len(pool) == 0


def test_release_drops_the_stale_ones_at_the_bottom(pool):
    old, new = pool.acquire(0.0), ServerSession(2000.0)
    pool.release(old, 0.0)
    pool.release(new, 2000.0)
    assert len(pool) == 1
    assert pool.acquire(2000.0) is new


def test_a_dirty_session_is_dropped(pool):
    session = pool.acquire(0.0)
    session.dirty = True
    pool.release(session, 0.0)
    assert len(pool) == 0


def test_without_a_timeout_sessions_never_go_stale(pool):
    pool.set_timeout_minutes(None)
    session = pool.acquire(0.0)
    pool.release(session, 1e9)
    assert pool.acquire(2e9) is session


def test_transaction_numbers_survive_the_pool(pool):
    session = pool.acquire(0.0)
    session.transaction_number = 7
    pool.release(session, 0.0)
    assert pool.acquire(0.0).transaction_number == 7


def test_what_is_taken_to_be_ended_is_gone(pool):
    sessions = [pool.acquire(0.0) for _ in range(3)]
    for session in sessions:
        pool.release(session, 0.0)
    assert pool.take_all() == [session.lsid for session in sessions]
    assert pool.take_all() == []
    assert pool.acquire(0.0) not in sessions
