"""The pool: fair hand-over, limits, clearing and closing."""
from __future__ import annotations

import gevent
import pytest

from geomongo._deployment.pool import Pool
from geomongo.errors import AutoReconnect, InvalidOperation, WaitQueueTimeoutError
from tests.fakes.null_connection import NullConnection
from tests.net.connecting import PATIENCE

pytestmark = pytest.mark.net


def null_pool(max_size=5, max_connecting=2, wait_timeout=None, connect=NullConnection):
    return Pool("null:1", connect, max_size, max_connecting, wait_timeout)


def figures(pool):
    return pool.size, pool.idle, pool.in_use, pool.waiters


def until(condition):
    """Let others run until `condition` holds."""
    with gevent.Timeout(PATIENCE):
        while not condition():
            gevent.sleep(0)


def test_connections_are_reused_last_in_first_out():
    pool = null_pool()
    one, two = pool.checkout(), pool.checkout()
    assert figures(pool) == (2, 0, 2, 0)
    pool.checkin(one)
    pool.checkin(two)
    assert figures(pool) == (2, 2, 0, 0)
    assert pool.checkout() is two
    assert pool.checkout() is one
    assert (one.id, two.id) == (1, 2)


def test_200_greenlets_share_5_connections_evenly():
    pool = null_pool()
    counts = [0] * 200
    total = 20_000

    def work(number):
        while sum(counts) < total:
            connection = pool.checkout()
            gevent.sleep(0)
            counts[number] += 1
            pool.checkin(connection)

    gevent.joinall([gevent.spawn(work, number) for number in range(200)], timeout=PATIENCE, raise_error=True)
    assert sum(counts) >= total
    assert max(counts) <= 1.2 * min(counts)
    assert figures(pool) == (5, 5, 0, 0)


def test_waiters_are_served_in_the_order_in_which_they_came():
    pool = null_pool(max_size=1)
    held = pool.checkout()
    order = []

    def work(number):
        connection = pool.checkout()
        order.append(number)
        pool.checkin(connection)

    waiting = [gevent.spawn(work, number) for number in range(50)]
    until(lambda: pool.waiters == 50)
    pool.checkin(held)
    # who comes now finds the connection handed over already, and queues up behind them
    late = gevent.spawn(work, 50)
    gevent.joinall([*waiting, late], timeout=PATIENCE, raise_error=True)
    assert order == list(range(51))


def test_never_more_than_max_size_nor_max_connecting():
    connecting, most = 0, 0

    def connect(generation, number):
        nonlocal connecting, most
        connecting += 1
        most = max(most, connecting)
        gevent.sleep(0)
        connecting -= 1
        return NullConnection(generation, number)

    pool = null_pool(max_size=7, max_connecting=3, connect=connect)
    sizes = []

    def work():
        connection = pool.checkout()
        sizes.append((pool.size, pool.in_use))
        gevent.sleep(0)
        pool.checkin(connection)

    gevent.joinall([gevent.spawn(work) for _ in range(100)], timeout=PATIENCE, raise_error=True)
    assert most == 3
    assert max(size for size, _ in sizes) == 7
    assert max(in_use for _, in_use in sizes) <= 7
    assert figures(pool) == (7, 7, 0, 0)


def test_without_a_limit_nobody_waits():
    pool = null_pool(max_size=None)
    held = [pool.checkout() for _ in range(300)]
    assert figures(pool) == (300, 0, 300, 0)
    for connection in held:
        pool.checkin(connection)
    assert figures(pool) == (300, 300, 0, 0)


@pytest.mark.parametrize("attribute", ["busy", "closed"])
def test_what_is_not_usable_is_not_kept_and_its_slot_goes_to_a_waiter(attribute):
    pool = null_pool(max_size=1)
    broken = pool.checkout()
    waiting = gevent.spawn(pool.checkout)
    until(lambda: pool.waiters == 1)
    setattr(broken.stream, attribute, True)
    pool.checkin(broken)
    fresh = waiting.get(timeout=PATIENCE)
    assert fresh is not broken and broken.stream.closed
    assert figures(pool) == (1, 0, 1, 0)
    pool.checkin(fresh)


def test_an_idle_connection_that_has_gone_bad_is_replaced():
    pool = null_pool()
    one = pool.checkout()
    pool.checkin(one)
    one.stream.closed = True
    other = pool.checkout()
    assert other is not one
    assert figures(pool) == (1, 0, 1, 0)
    pool.checkin(other)


def test_a_failed_connect_frees_its_slot_and_the_next_one_tries():
    attempts = []

    def connect(generation, number):
        attempts.append(number)
        gevent.sleep(0)
        raise AutoReconnect(f"refused {number}")

    pool = null_pool(max_size=2, connect=connect)
    workers = [gevent.spawn(pool.checkout) for _ in range(10)]
    gevent.joinall(workers, timeout=PATIENCE)
    assert sorted(str(worker.exception) for worker in workers) == sorted(f"refused {n}" for n in range(1, 11))
    assert len(attempts) == 10
    assert figures(pool) == (0, 0, 0, 0)


def test_clear_drops_idle_connections_now_and_others_when_they_come_back():
    pool = null_pool()
    idle, used = pool.checkout(), pool.checkout()
    pool.checkin(idle)
    pool.clear()
    assert idle.stream.closed and not used.stream.closed
    assert figures(pool) == (1, 0, 1, 0)
    pool.checkin(used)
    assert used.stream.closed
    assert figures(pool) == (0, 0, 0, 0)
    fresh = pool.checkout()
    assert fresh.generation == pool.generation == 1
    pool.checkin(fresh)
    assert figures(pool) == (1, 1, 0, 0)


def test_clear_while_a_connection_is_being_opened():
    opened = []

    def connect(generation, number):
        connection = NullConnection(generation, number)
        opened.append(connection)
        gevent.sleep(0)
        return connection

    pool = null_pool(connect=connect)
    opening = gevent.spawn(pool.checkout)
    until(lambda: opened)
    pool.clear()
    with pytest.raises(AutoReconnect, match="null:1: the pool was cleared"):
        opening.get(timeout=PATIENCE)
    assert opened[0].stream.closed
    assert figures(pool) == (0, 0, 0, 0)


def test_close_ends_everything():
    gate = gevent.event.Event()
    opened = []

    def connect(generation, number):
        if opened:
            gate.wait()
        opened.append(NullConnection(generation, number))
        return opened[-1]

    pool = null_pool(max_size=3, max_connecting=1, connect=connect)
    used = pool.checkout()
    # one opens a connection, one waits for its turn to open one, two wait for a connection
    others = [gevent.spawn(pool.checkout) for _ in range(4)]
    until(lambda: pool.waiters == 2)
    pool.close()
    gate.set()
    gevent.joinall(others, timeout=PATIENCE)
    assert [type(other.exception) for other in others] == [InvalidOperation] * 4
    assert {str(other.exception) for other in others} == {"Cannot use MongoClient after close"}
    assert used.stream.closed and all(connection.stream.closed for connection in opened)
    assert len(opened) == 2  # who waited for its turn did not open one after the close
    pool.checkin(used)
    assert figures(pool) == (0, 0, 0, 0)
    with pytest.raises(InvalidOperation, match="after close"):
        pool.checkout()


def test_the_wait_queue_timeout_says_how_full_the_pool_is():
    pool = null_pool(max_size=1, wait_timeout=0.001)
    held = pool.checkout()
    with pytest.raises(WaitQueueTimeoutError) as full:
        pool.checkout()
    text = str(full.value)
    assert text.startswith("null:1: no connection was free within waitQueueTimeoutMS (0.001 s)")
    assert "maxPoolSize 1, in use 1, waiting 1" in text
    assert figures(pool) == (1, 0, 1, 0)
    pool.checkin(held)
    assert figures(pool) == (1, 1, 0, 0)
