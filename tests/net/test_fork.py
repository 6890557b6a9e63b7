"""A fork in the middle of an operation: it goes on in the parent, and its copy ends in the child without a byte."""
from __future__ import annotations

import gevent
import pytest
from gevent.event import Event

from tests.fakes.scripted_server import ScriptedServer
from tests.net.connecting import PATIENCE
from tests.net.scripts import finish, start

pytestmark = pytest.mark.net

PROGRAM = """
import gevent, os, sys
from gevent.socket import wait_read

def wait_child(pid):
    while waitpid(pid, os.WNOHANG) == (0, 0):
        gevent.sleep(0.005)

def attempt():
    try:
        return client.admin.command("slow")
    except Exception as error:
        return error

client = MongoClient(sys.argv[1], maxPoolSize=int(sys.argv[2]), heartbeatFrequencyMS=60000)
warm, count = int(sys.argv[3]), int(sys.argv[4])
if warm:
    client.admin.command("ping")
workers = [gevent.spawn(attempt) for _ in range(count)]
wait_read(0)
assert os.read(0, 100) == b"fork\\n"
pid = fork()
if pid == 0:
    gevent.joinall(workers, timeout=20)
    for worker in workers:
        print("child:", type(worker.value).__name__, str(worker.value).replace("\\n", " "))
    print("child's own:", client.admin.command("ping")["ok"])
    client.close()
    sys.stdout.flush()
    os._exit(0)
wait_child(pid)
print("forked")
sys.stdout.flush()
gevent.joinall(workers, timeout=20, raise_error=True)
print("parent:", [worker.value["ok"] for worker in workers])
client.close()
"""
FORKS = {
    "os.fork": "from os import fork, waitpid\nfrom geomongo import MongoClient\n",
    "gevent.os.fork": "from gevent.os import fork, waitpid\nfrom geomongo import MongoClient\n",
    "patched": "from gevent import monkey; monkey.patch_all()\n"
               "from os import fork, waitpid\nfrom geomongo import MongoClient\n",
}
# where the operation waits: maxPoolSize, whether the client was used before, operations, and the script's wait
SCENES = {
    "exchange": (100, 1, 1, lambda peer, request: "slow" in request.document),
    "handshake": (100, 0, 1, lambda peer, request: peer.number == 1),
    "queue": (1, 1, 3, lambda peer, request: "slow" in request.document),
    "selection": (100, 0, 2, lambda peer, request: peer.number == 0),
    "several": (100, 1, 10, lambda peer, request: "slow" in request.document),
}


class Scene:
    """A server that does not answer what `holds` until it is released."""

    def __init__(self, holds):
        self.holds = holds
        self.held = []
        self.release = Event()

    def script(self, peer):
        """Answer everything but what is to be held."""
        while True:
            request = peer.request()
            if self.holds(peer, request) and not self.release.is_set():
                self.held.append(peer)
                self.release.wait()
            peer.reply(request)


@pytest.mark.parametrize("fork", FORKS.values(), ids=FORKS.keys())
@pytest.mark.parametrize("scene", SCENES)
def test_a_fork_in_the_middle(fork, scene):
    max_size, warm, count, holds = SCENES[scene]
    staged = Scene(holds)
    with ScriptedServer(staged.script) as server:
        process = start(fork + PROGRAM, f"mongodb://{server.name}/", str(max_size), str(warm), str(count))
        with gevent.Timeout(PATIENCE):
            while len(staged.held) < (count if scene == "several" else 1):
                assert process.poll() is None, process.stderr.read()
                gevent.sleep(0.001)
        inherited = {peer: peer.received for peer in server.peers}
        if scene == "selection":
            staged.holds = lambda peer, request: False  # the child's own monitor is answered
        process.stdin.write("fork\n")
        process.stdin.flush()
        lines = read_until(process, "forked\n")
        # The child has come and gone: on what it inherited it sent no byte, nor ended any connection.
        for peer, received in inherited.items():
            assert peer.received == received
            assert not peer.gone.is_set()
        staged.release.set()
        rest = finish(process)
    told = [line for line in lines if line.startswith("child:")]
    assert len(told) == count
    for line in told:
        assert line.startswith("child: InvalidOperation"), line
        assert "the process was forked while this operation was under way" in line
    assert "child's own: 1.0\n" in lines
    assert rest == f"parent: {[1.0] * count}\n"


def read_until(process, last):
    """The lines that the program prints, up to `last`."""
    lines = []
    with gevent.Timeout(PATIENCE):
        while last not in lines:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            lines.append(line)
    return lines
