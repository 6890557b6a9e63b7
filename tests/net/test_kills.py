"""Kills and timeouts at every wait of an operation: nothing leaks, and what arrived is what leaves."""
from __future__ import annotations

from functools import partial
from itertools import product

import gevent
import pytest
from gevent.event import Event

from geomongo._deployment.pool import Pool
from tests.fakes.scripted_server import ScriptedServer, obliging
from tests.fakes.throwing import Victim, at_every_wait
from tests.net.connecting import PATIENCE, connect, ping

pytestmark = pytest.mark.net

MAX_SIZE = 3


class OurOwn(BaseException):
    """Something that is no Exception and that nobody knows."""


KINDS = {
    "timeout": lambda: [gevent.Timeout()],
    "exit": lambda: [gevent.GreenletExit()],
    "our own": lambda: [OurOwn()],
    "error": lambda: [ValueError("from outside")],
    "two": lambda: [gevent.Timeout(), gevent.GreenletExit()],
    "three": lambda: [gevent.GreenletExit(), OurOwn(), gevent.Timeout()],
}
kinds = pytest.mark.parametrize("errors", KINDS.values(), ids=KINDS.keys())
turns = pytest.mark.parametrize("turns", range(5))


def make_pool(server, max_size=MAX_SIZE, max_connecting=2):
    def open_one(generation, number):
        return connect(server.address, generation=generation, number=number)

    return Pool(server.name, open_one, max_size, max_connecting, None)


def operate(pool):
    """What the executor does, in short."""
    connection = pool.checkout()
    try:
        return ping(connection)
    finally:
        pool.checkin(connection)


def check_whole(pool, server):
    """Nothing leaked: every slot is free, and max_size operations at once succeed."""
    with gevent.Timeout(PATIENCE):
        while pool.in_use or pool.waiters or pool.size != pool.idle:
            gevent.sleep(0)
    with gevent.Timeout(PATIENCE):
        held = [pool.checkout() for _ in range(pool.max_size)]
    assert (pool.size, pool.idle, pool.in_use, pool.waiters) == (pool.max_size, 0, pool.max_size, 0)
    assert len(set(held)) == pool.max_size
    for connection in held:
        assert ping(connection) == {"ok": 1.0}
        pool.checkin(connection)
    # What is open at the server is what is in the pool.
    with gevent.Timeout(PATIENCE):
        while len(server.open_peers) != pool.size:
            gevent.sleep(0)


@kinds
@turns
def test_connect_handshake_and_exchange(errors, turns):
    def make(nth):
        return Victim(partial(operate, make_pool_for(nth)), nth, errors(), turns)

    pools = {}

    def make_pool_for(nth):
        return pools.setdefault(nth, make_pool(server))

    seen = 0
    with ScriptedServer() as server:
        for nth, victim in enumerate(at_every_wait(make), 1):
            victim.run().check()
            seen = max(seen, victim.waits)
            check_whole(pools[nth], server)
            pools[nth].close()
    assert seen >= 3  # the connect, the hello, the exchange


@kinds
@turns
def test_exchange_in_pieces(errors, turns):
    """A request and a reply too large for one piece; a killed exchange is never answered to somebody else."""
    large = {"ok": 1.0, "text": "x" * 3_000_000}

    def script(peer):
        while True:
            request = peer.request()
            peer.reply(request, large if "text" in request.document else None)

    def exchange():
        connection = pool.checkout()
        try:
            return connection.command("admin", {"echo": 1, "text": "x" * 3_000_000})["text"]
        finally:
            pool.checkin(connection)

    with ScriptedServer(script) as server:
        pool = make_pool(server)
        operate(pool)
        for victim in at_every_wait(lambda nth: Victim(exchange, nth, errors(), turns)):
            victim.run().check()
            if victim.error is None:
                assert victim.value == large["text"]
            check_whole(pool, server)
        pool.close()


@kinds
@turns
def test_queue_where_a_connection_is_handed_over(errors, turns):
    """The victim queues up for the only connection, which comes back when it waits; another waits behind it."""
    with ScriptedServer() as server:
        pool = make_pool(server, max_size=1)
        for nth, patience in product(range(1, 4), (0, 1, 4)):
            held = pool.checkout()
            victim = Victim(partial(operate, pool), nth, errors(), turns)
            victim.start()
            behind = gevent.spawn(operate, pool)
            gevent.spawn(give_back, pool, held, patience)
            victim.finish().check()
            assert behind.get(timeout=PATIENCE) == {"ok": 1.0}
            check_whole(pool, server)
        pool.close()


@kinds
@turns
def test_queue_where_a_slot_is_handed_over(errors, turns):
    """As above, but what comes back is broken, so that the victim gets the right to open a connection."""
    with ScriptedServer() as server:
        pool = make_pool(server, max_size=1)
        for nth, patience in product(range(1, 7), (0, 1, 4)):
            held = pool.checkout()
            held.close()
            victim = Victim(partial(operate, pool), nth, errors(), turns)
            victim.start()
            behind = gevent.spawn(operate, pool)
            gevent.spawn(give_back, pool, held, patience)
            victim.finish().check()
            assert behind.get(timeout=PATIENCE) == {"ok": 1.0}
            check_whole(pool, server)
        pool.close()


def give_back(pool, connection, patience):
    """Check `connection` in after `patience` turns of the hub: before a throw arrives, with it, or after it."""
    for _ in range(patience):
        gevent.sleep(0)
    pool.checkin(connection)


@kinds
@turns
def test_the_queue_for_opening_a_connection(errors, turns):
    """The victim waits for another that is opening a connection; a third waits behind it."""
    gate = Event()

    def script(peer):
        request = peer.request()
        gate.wait()
        peer.reply(request)
        obliging(peer)

    with ScriptedServer(script) as server:
        for nth in range(1, 6):
            gate.clear()
            known = len(server.peers)
            pool = make_pool(server, max_connecting=1)
            first = gevent.spawn(operate, pool)
            with gevent.Timeout(PATIENCE):
                while len(server.peers) == known or not server.peers[-1].arrived.is_set():
                    gevent.sleep(0)
            victim = Victim(partial(operate, pool), nth, errors(), turns)
            victim.start()
            third = gevent.spawn(operate, pool)
            gevent.spawn_later(0, gate.set) if nth % 2 else gate.set()
            victim.finish().check()
            assert [one.get(timeout=PATIENCE) for one in (first, third)] == [{"ok": 1.0}] * 2
            check_whole(pool, server)
            pool.close()


def test_a_waiter_that_is_killed_after_it_was_handed_a_connection_passes_it_on():
    with ScriptedServer() as server:
        pool = make_pool(server, max_size=1)
        held = pool.checkout()
        first, second = gevent.spawn(pool.checkout), gevent.spawn(pool.checkout)
        with gevent.Timeout(PATIENCE):
            while pool.waiters < 2:
                gevent.sleep(0)
        first.kill(block=False)  # arrives before what the next line schedules
        pool.checkin(held)
        assert second.get(timeout=PATIENCE) is held
        assert isinstance(first.value, gevent.GreenletExit)
        pool.checkin(held)
        check_whole(pool, server)
        pool.close()


def test_a_storm_of_timeouts_leaves_the_pool_whole():
    """60 greenlets under the shortest timeouts, over and over: whatever they hit, the pool survives."""
    with ScriptedServer() as server:
        pool = make_pool(server, max_size=5)
        done = cut = 0

        def work(number):
            nonlocal done, cut
            for attempt in range(40):
                timer = gevent.Timeout.start_new((number + attempt) % 9 / 2000)
                try:
                    operate(pool)
                    done += 1
                except gevent.Timeout as fired:
                    assert fired is timer
                    cut += 1
                finally:
                    timer.close()

        gevent.joinall([gevent.spawn(work, number) for number in range(60)], timeout=PATIENCE, raise_error=True)
        assert done + cut == 60 * 40
        assert cut
        check_whole(pool, server)
        pool.close()
