"""Kills at every wait of a whole operation, through the public API: events pair up, sessions and slots come back."""
from __future__ import annotations

import gevent
import pytest

from geomongo import MongoClient
from geomongo.monitoring import CommandListener
from tests.fakes.scripted_server import ScriptedServer
from tests.fakes.throwing import Victim, at_every_wait
from tests.net.connecting import PATIENCE

pytestmark = pytest.mark.net

BATCH = {"ok": 1.0, "cursor": {"id": 5, "ns": "db.c", "firstBatch": [{"_id": 1}], "nextBatch": [{"_id": 2}]}}


class Counter(CommandListener):
    """Keeps the request ids of every start and of every end."""

    def __init__(self):
        self.starts = []
        self.ends = []

    def started(self, event):
        self.starts.append(event.request_id)

    def succeeded(self, event):
        self.ends.append(event.request_id)

    def failed(self, event):
        self.ends.append(event.request_id)


def script(peer):
    """Answer everything; whoever asks for documents gets a cursor that ends after its second batch."""
    while True:
        request = peer.request()
        command = next(iter(request.document))
        if command in ("find", "getMore"):
            cursor = dict(BATCH["cursor"], id=5 if command == "find" else 0)
            peer.reply(request, {**BATCH, "cursor": cursor})
        elif command == "insert":
            peer.reply(request, {"ok": 1.0, "n": 1})
        else:
            peer.reply(request)


OPERATIONS = {
    "command": lambda client: client.admin.command("ping"),
    "find_one": lambda client: client.db.c.find_one({}),
    "cursor": lambda client: list(client.db.c.find({})),
    "insert_one": lambda client: client.db.c.insert_one({"x": 1}),
    "insert_many": lambda client: client.db.c.insert_many([{"x": 1}, {"x": 2}]),
}


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_a_kill_at_every_wait_of_an_operation(operation, turns):
    with ScriptedServer(script) as server:
        waits = 0

        def make(nth):
            client = MongoClient(f"mongodb://{server.name}/", maxPoolSize=2, event_listeners=[Counter()])
            clients.append(client)
            errors = [gevent.Timeout()] if nth % 2 else [gevent.GreenletExit(), gevent.Timeout()]
            return Victim(lambda: operation(client), nth, errors, turns)

        clients = []
        for victim in at_every_wait(make):
            victim.run().check()
            waits = max(waits, victim.waits)
            client = clients[-1]
            check_whole(client, operation)
            client.close()
    assert waits >= 4  # selection, the connect, the hello, the exchange


def check_whole(client, operation):
    """As many operations as the pool has connections succeed at once, and every start had its end."""
    workers = [gevent.spawn(operation, client) for _ in range(4)]
    gevent.joinall(workers, timeout=PATIENCE, raise_error=True)
    assert all(worker.ready() for worker in workers)
    (stats,) = client.pool_stats()
    assert (stats.in_use, stats.waiters, stats.size) == (0, 0, stats.idle)
    (counter,) = client.options.event_listeners
    assert sorted(counter.starts) == sorted(counter.ends)
    assert len(set(counter.starts)) == len(counter.starts)


def test_the_session_of_a_killed_operation_is_not_used_again():
    seen = []

    def silent_first(peer):
        while True:
            request = peer.request()
            if not request.is_hello and "ping" in request.document:
                seen.append(request.document["lsid"]["id"])
                if len(seen) == 1:
                    peer.wait_gone()
            peer.reply(request)

    with ScriptedServer(silent_first) as server:
        client = MongoClient(f"mongodb://{server.name}/")
        killed = gevent.spawn(client.admin.command, "ping")
        with gevent.Timeout(PATIENCE):
            while not seen:
                gevent.sleep(0)
        killed.kill(timeout=PATIENCE)
        for _ in range(3):
            client.admin.command("ping")
        assert seen[0] not in seen[1:]
        assert len(set(seen[1:])) == 1
        client.close()
