"""geomongo in processes of all kinds: patched or not, forked, ending with a client open."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds


def run(source: str, *arguments: str) -> str:
    """What a program prints, run with warnings as errors. Fails where it fails, hangs or complains."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", dedent(source), *arguments], cwd=ROOT, text=True,
                          capture_output=True, timeout=PATIENCE, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


IMPORT = "import geomongo, gevent"
PATCH = "from gevent import monkey; monkey.patch_all()"
CLIENT = "client = geomongo.MongoClient({uri!r})"
USE = "client.admin.command('ping')"
WORK = """
collection = client[{name!r}].t
workers = [gevent.spawn(collection.find_one, {{"_id": number}}) for number in range(10)]
gevent.joinall(workers, raise_error=True)
print([worker.value["x"] for worker in workers])
print(sum(document["x"] for document in collection.find({{}}, batch_size=3)))
"""
DONE = f"{list(range(10))}\n45\n"
LIVES = {
    "unpatched": [IMPORT, CLIENT, WORK],
    "patched first": [PATCH, IMPORT, CLIENT, WORK],
    "patched after the import": [IMPORT, PATCH, CLIENT, WORK],
    "patched after the client": [IMPORT, CLIENT, PATCH, WORK],
    "patched after an operation": [IMPORT, CLIENT, USE, PATCH, WORK],
    "patched in part": ["from gevent import monkey; monkey.patch_socket()", IMPORT, CLIENT, WORK],
    "closed": [IMPORT, CLIENT, WORK, "client.close()"],
    "dropped": [IMPORT, CLIENT, WORK, "del client, collection"],
    "a cursor open at the end": [IMPORT, CLIENT, WORK, "cursor = collection.find({{}}, batch_size=2); next(cursor)"],
    "in a thread, unpatched": [IMPORT, "import threading", CLIENT, USE, "def work():\n    gevent.sleep(0)",
                               "thread = threading.Thread(target=lambda: print(client.admin.command('ping')['ok']))",
                               "thread.start(); thread.join(); import sys; sys.stdout.flush()", WORK],
}


@pytest.mark.parametrize("life", LIVES)
def test_a_life(uri, ten, life):
    program = "\n".join(part.format(uri=uri, name=ten) for part in LIVES[life])
    assert run(program) == ("1.0\n" + DONE if "thread" in life else DONE)


def test_importing_starts_no_thread_and_no_hub():
    assert run("""
        import sys, threading
        import geomongo
        geomongo.MongoClient
        from gevent._hub_local import get_hub_if_exists
        print(threading.active_count(), get_hub_if_exists(), "pymongo" in sys.modules)
    """) == "1 None False\n"


def test_importing_takes_at_most_half_of_pymongos_time():
    def fastest(package: str) -> float:
        """Seconds of the process's own time, to which a busy machine adds none; the best of several."""
        program = f"import time; start = time.process_time(); import {package}; print(time.process_time() - start)"
        return min(float(run(program)) for _ in range(5))

    ours, theirs = fastest("geomongo"), fastest("pymongo")
    assert ours <= theirs / 2, f"geomongo {ours * 1000:.0f} ms, PyMongo {theirs * 1000:.0f} ms"


@pytest.mark.parametrize("open_cursor", [False, True])
def test_the_hub_ends_with_a_client_open(uri, ten, open_cursor):
    assert run("""
        import sys, gevent, geomongo
        client = geomongo.MongoClient(sys.argv[1])
        worker = gevent.spawn(client[sys.argv[2]].t.find_one, {"_id": 3})
        if sys.argv[3] == "True":
            cursor = client[sys.argv[2]].t.find({}, batch_size=2)
            next(cursor)
        print(gevent.get_hub().join(timeout=30), worker.value)
    """, uri, ten, str(open_cursor)) == "True {'_id': 3, 'x': 3}\n"


FORK = """
import gc, os, sys, gevent, geomongo
from geomongo.errors import InvalidOperation

client = geomongo.MongoClient(sys.argv[1])
collection = client[sys.argv[2]].t
cursor = collection.find({}, batch_size=4)
session = client.start_session()
if used:
    collection.find_one({"_id": 0}, session=session)
    next(cursor)

def work():
    workers = [gevent.spawn(collection.find_one, {"_id": number}) for number in range(10)]
    gevent.joinall(workers, raise_error=True)
    return sum(worker.value["x"] for worker in workers)

sys.stdout.flush()
pid = fork()
if pid == 0:
    print("child", work())
    if used:
        for call in (lambda: list(cursor), lambda: collection.find_one({}, session=session)):
            try:
                print("no error", call())
            except InvalidOperation as error:
                print("refused:", "before a fork" in str(error))
        del cursor, session, call
        gc.collect()
    client.close()
    sys.stdout.flush()
    os._exit(0)
print("status", waitpid(pid, 0)[1])
print("parent", work(), len(list(cursor)), collection.find_one({"_id": 1}, session=session))
"""


@pytest.mark.parametrize("fork", ["import os; fork, waitpid = os.fork, os.waitpid",
                                  "from gevent.os import fork, waitpid",
                                  f"{PATCH}; import os; fork, waitpid = os.fork, os.waitpid"],
                         ids=["os.fork", "gevent.os.fork", "patched"])
@pytest.mark.parametrize("used", [False, True], ids=["unused", "used"])
def test_a_fork(uri, ten, fork, used):
    lines = run(f"{fork}\nused = {used}\n" + FORK, uri, ten).splitlines()
    refusals = ["refused: True"] * 2 if used else []
    assert lines == ["child 45", *refusals, "status 0", f"parent 45 {9 if used else 10} {{'_id': 1, 'x': 1}}"]
