"""How long the imports take in fresh interpreters, and that importing geomongo starts and opens nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from plan import WorkerFailed, run_python

STATEMENTS = {
    "geomongo": ("import geomongo", "from geomongo import MongoClient"),
    "pymongo": ("import pymongo", "from pymongo import MongoClient"),
}
TIMED = "from time import perf_counter as t; a = t(); {}; print(t() - a)"
# Prints what is there after the import that was not there before it.
PROBE = """
import json, os, sys, threading
def look():
    return len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))
before = look()
import geomongo
after = look()
hub = None
if "gevent" in sys.modules:
    import gevent._hub_local
    hub = gevent._hub_local.get_hub_if_exists()
print(json.dumps({
    "threads": after[0],
    "python_threads": threading.active_count(),
    "hub": hub is not None,
    "opened": len(set(after[1]) - set(before[1])),
    "pymongo_imported": "pymongo" in sys.modules,
}))
"""


def measure_imports(drivers: tuple[str, ...], runs: int, say: Callable[[str], None]) -> dict[str, float]:
    """Milliseconds of each import statement, the best of so many interpreters, taken in turn."""
    best: dict[str, float] = {}
    statements = [one for driver in drivers for one in STATEMENTS.get(driver, ())]
    for number in range(runs + 1):
        for statement in statements:
            say(statement)
            try:
                took = float(run_python(["-c", TIMED.format(statement)])) * 1e3
            except WorkerFailed:
                continue
            if number:  # the first turn only writes the byte code
                best[statement] = min(took, best.get(statement, took))
    return best


def probe_import() -> dict[str, Any]:
    """What importing geomongo left behind: threads, a hub, open files; {"error": ...} where it fails."""
    try:
        return dict(json.loads(run_python(["-c", PROBE])))
    except WorkerFailed as error:
        return {"error": str(error)}


def has_client() -> bool:
    """Whether geomongo can be measured in this tree."""
    try:
        run_python(["-c", "import geomongo; geomongo.MongoClient"])
    except WorkerFailed:
        return False
    return True
