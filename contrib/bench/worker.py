"""One measurement in a process of its own: `worker.py '{"driver": ..., "operation": ..., "greenlets": ...}'`.

Started by `plan.py`; prints one line of JSON: operations per second, processor time per operation and, for
the 16 MB reply, the longest holds of the hub. A process of its own, so that the monkey-patching that one
driver needs never touches another.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

DRIVER = json.loads(sys.argv[1])["driver"] if __name__ == "__main__" else "floor"
# Before gevent is used in any other way: the PyMongo client patches the process when it is imported.
CLIENT = importlib.import_module(f"client_{DRIVER}")

import gevent  # noqa: E402
from holds import Ticker  # noqa: E402
from operations import HUGE, HUGE_OPERATIONS, MANY  # noqa: E402

Operation = Callable[[], Any]


def processor_seconds(pid: int) -> float:
    """Processor seconds that a process has used, user and system."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_until(operations: list[Operation], seconds: float) -> int:
    """Run each operation in a loop in its own greenlet for so many seconds; how many were done in all."""
    done = [0] * len(operations)

    def loop(index: int, operation: Operation) -> None:
        end = perf_counter() + seconds
        count = 0
        while perf_counter() < end:
            operation()
            count += 1
        done[index] = count

    greenlets = [gevent.spawn(loop, index, operation) for index, operation in enumerate(operations)]
    gevent.joinall(greenlets, raise_error=True)
    return sum(done)


def verify(client: Any, name: str) -> None:
    """Run the operation once and look at all of its answer."""
    operation = client.operation(name)
    result = operation()
    if not client.check(name, result):
        raise AssertionError(f"{DRIVER}: {name} answered {result!r}")
    if name.startswith(("read", "huge")):
        collection, count = ("huge", HUGE) if name in HUGE_OPERATIONS else ("many", MANY)
        if client.numbers(collection, count) != list(range(count)):
            raise AssertionError(f"{DRIVER}: {name} did not read every document once and in order")


def measure(case: dict[str, Any]) -> dict[str, float]:
    """Connect, verify, warm up, and measure one case."""
    name, greenlets, seconds = case["operation"], case["greenlets"], case["seconds"]
    client = CLIENT.connect(case["port"])
    verify(client, name)
    huge = name in HUGE_OPERATIONS
    # The small operation opens the connections; a warm-up with the 16 MB reply would only take time.
    run_until([client.operation("find_one" if huge else name) for _ in range(greenlets)], min(seconds, 0.25))
    operations = [client.operation(name) for _ in range(greenlets)]
    ticker = Ticker() if huge else None
    if ticker:
        ticker.start()
    stub_started = processor_seconds(case["stub_pid"])
    started, cpu_started = perf_counter(), process_time()
    done = run_until(operations, seconds)
    took, cpu = perf_counter() - started, process_time() - cpu_started
    stub_busy = (processor_seconds(case["stub_pid"]) - stub_started) / took
    result = {"ops_per_second": done / took, "cpu_us": cpu / done * 1e6}
    result.update(busy=cpu / took, stub_busy=stub_busy)
    if ticker:
        result.update(ticker.stop())
    client.close()
    return result


def main() -> None:
    case = json.loads(sys.argv[1])
    os.sched_setaffinity(0, case["cores"])
    print(json.dumps(measure(case)))


if __name__ == "__main__":
    main()
