"""geomongo works without monkey-patching, and under it, in any import order, and warns of nothing."""
from __future__ import annotations

import pytest

from tests.fakes.scripted_server import ScriptedServer
from tests.net.scripts import run

pytestmark = pytest.mark.net

IMPORT = "import geomongo; from geomongo import MongoClient"
PATCH_ALL = "from gevent import monkey; monkey.patch_all()"
PATCH_SOME = "from gevent import monkey; monkey.patch_socket(); monkey.patch_time()"
CLIENT = "client = MongoClient('{uri}')"
USED = CLIENT + "; assert client.admin.command('ping')['ok'] == 1"
ORDERS = {
    "never": [IMPORT, CLIENT],
    "before": [PATCH_ALL, IMPORT, CLIENT],
    "after the import": [IMPORT, PATCH_ALL, CLIENT],
    "after the client": [IMPORT, CLIENT, PATCH_ALL],
    "after an operation": [IMPORT, USED, PATCH_ALL],
    "in part, before": [PATCH_SOME, IMPORT, CLIENT],
    "in part, after": [IMPORT, CLIENT, PATCH_SOME],
    "all but threads": ["from gevent import monkey; monkey.patch_all(thread=False)", IMPORT, CLIENT],
}
EXCHANGE = """
import gevent
turns = 0
def tick():
    global turns
    while True:
        turns += 1
        gevent.sleep(0.0005)
ticker = gevent.spawn(tick)
workers = [gevent.spawn(client.admin.command, "ping") for _ in range(20)]
gevent.joinall(workers, timeout=20, raise_error=True)
assert [worker.value["ok"] for worker in workers] == [1.0] * 20
assert turns > 1, "the hub was blocked"
ticker.kill()
client.close()
print("done")
"""


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
def test_any_order(order):
    with ScriptedServer() as server:
        program = "\n".join(line.format(uri=f"mongodb://{server.name}/") for line in order)
        assert run(program + EXCHANGE) == "done\n"


def test_importing_starts_nothing_and_opens_nothing():
    assert run("""
        import os, sys, threading
        before = set(os.listdir("/proc/self/fd"))
        import geomongo
        from geomongo import MongoClient
        client = MongoClient("mongodb://127.0.0.1:9/")
        from gevent._hub_local import get_hub_if_exists
        assert get_hub_if_exists() is None
        assert threading.active_count() == 1
        assert set(os.listdir("/proc/self/fd")) == before, (before, os.listdir("/proc/self/fd"))
        assert "ssl" not in sys.modules and "pymongo" not in sys.modules
        print("nothing")
    """) == "nothing\n"


def test_a_client_that_is_open_does_not_keep_the_hub_alive():
    with ScriptedServer() as server:
        assert run("""
            import sys, gevent
            from geomongo import MongoClient
            client = MongoClient(sys.argv[1])
            worker = gevent.spawn(client.admin.command, "ping")
            assert gevent.get_hub().join(timeout=20), "the monitor keeps the hub alive"
            assert worker.value["ok"] == 1
            print("joined")
        """, f"mongodb://{server.name}/") == "joined\n"


@pytest.mark.parametrize("silence", ["from the start", "after the handshake"])
def test_a_monitor_of_a_silent_server_does_not_keep_the_hub_alive(silence):
    def script(peer):
        if silence == "after the handshake":
            peer.hello()
        peer.request()
        peer.wait_gone()

    with ScriptedServer(script) as server:
        assert run("""
            import sys, gevent
            from geomongo import MongoClient
            from geomongo.errors import ServerSelectionTimeoutError
            # heartbeats come fast, so that the monitor waits for an answer most of the time
            client = MongoClient(sys.argv[1], serverSelectionTimeoutMS=600, heartbeatFrequencyMS=500)
            try:
                with gevent.Timeout(1):
                    client.admin.command("ping")
            except (ServerSelectionTimeoutError, gevent.Timeout):
                pass
            assert gevent.get_hub().join(timeout=15), "the monitor keeps the hub alive"
            print("joined")
        """, f"mongodb://{server.name}/") == "joined\n"


def test_a_greenlet_dump_names_the_monitors():
    with ScriptedServer() as server:
        assert run("""
            import gc, sys, gevent
            from geomongo import MongoClient
            client = MongoClient(sys.argv[1])
            client.admin.command("ping")
            names = {one.name for one in gc.get_objects() if isinstance(one, gevent.Greenlet) and not one.dead}
            print(names)
        """, f"mongodb://{server.name}/") == f"{{'geomongo monitor {server.name}'}}\n"
