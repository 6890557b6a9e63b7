"""Where the time of find_one goes: many greenlets against the stub, sampled by processor time.

    python contrib/bench/profile_find_one.py [--driver geomongo] [--operation find_one] [--greenlets 100]
                                             [--operations 200000] [--top 30] [--lines]

Prints the functions in which samples were taken (own time) and those that were on the stack (with callees)
in microseconds an operation, and how many functions one operation calls. A sampler, because cProfile charges
the time of a greenlet switch to the wrong function and slows small functions down most. Time inside C code
counts for the Python function that called it, and time in the event loop for the function that runs next.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time
from types import FrameType
from typing import Any

ARGUMENTS = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
ARGUMENTS.add_argument("--driver", default="geomongo", choices=("geomongo", "pymongo", "floor"))
ARGUMENTS.add_argument("--operation", default="find_one")
ARGUMENTS.add_argument("--greenlets", type=int, default=100)
ARGUMENTS.add_argument("--operations", type=int, default=200_000, help="how many are run in all")
ARGUMENTS.add_argument("--top", type=int, default=30, help="how many functions are printed")
ARGUMENTS.add_argument("--lines", action="store_true", help="own time by line instead of by function")
OPTIONS = ARGUMENTS.parse_args()
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(1, str(ROOT))
# Before gevent is used in any other way: the PyMongo client patches the process when it is imported.
CLIENT = importlib.import_module(f"client_{OPTIONS.driver}")

import gevent  # noqa: E402
from stub_control import Stub  # noqa: E402

INTERVAL = 0.001


class Sampler:
    """Counts, at every tick of the process's processor time, where Python code is."""

    def __init__(self, by_line: bool) -> None:
        self.own: Counter[str] = Counter()
        self.within: Counter[str] = Counter()
        self.samples = 0
        self._by_line = by_line

    def start(self) -> None:
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _sample(self, signum: int, frame: FrameType | None) -> None:
        self.samples += 1
        if frame is None:
            return
        self.own[place(frame, self._by_line)] += 1
        seen = set()
        while frame is not None:
            seen.add(place(frame, False))
            frame = frame.f_back
        self.within.update(seen)


def place(frame: FrameType, by_line: bool) -> str:
    """The file and function, and the line where asked, of a frame."""
    code = frame.f_code
    path = Path(code.co_filename)
    line = frame.f_lineno if by_line else code.co_firstlineno
    return f"{path.parent.name}/{path.name}:{line} {code.co_name}"


def count_calls(operation: Callable[[], Any]) -> Counter[str]:
    """How often one operation calls which Python function, and C functions in all."""
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            calls[place(frame, False)] += 1
        elif event == "c_call":
            calls["C functions"] += 1

    sys.setprofile(note)
    operation()
    sys.setprofile(None)
    calls["C functions"] -= 1  # the call that ended the count
    return calls


def run(operations: list[Callable[[], Any]], each: int) -> None:
    """Every operation so many times in its own greenlet."""

    def loop(operation: Callable[[], Any]) -> None:
        for _ in range(each):
            operation()

    gevent.joinall([gevent.spawn(loop, operation) for operation in operations], raise_error=True)


def print_top(title: str, counter: Counter[str], us_per_sample: float) -> None:
    print(f"\n{title}")
    for name, count in counter.most_common(OPTIONS.top):
        print(f"{count * us_per_sample:8.2f} us  {name}")


def main() -> None:
    with Stub() as stub:
        client = CLIENT.connect(stub.port)
        operations = [client.operation(OPTIONS.operation) for _ in range(OPTIONS.greenlets)]
        run(operations, 20)
        calls = count_calls(operations[0])
        each = max(1, OPTIONS.operations // OPTIONS.greenlets)
        sampler = Sampler(OPTIONS.lines)
        started = process_time()
        sampler.start()
        run(operations, each)
        sampler.stop()
        cpu_us = (process_time() - started) * 1e6 / (each * OPTIONS.greenlets)
        client.close()
    us_per_sample = cpu_us / max(1, sampler.samples)
    python_calls = sum(calls.values()) - calls["C functions"]
    case = f"{OPTIONS.driver} {OPTIONS.operation}, {OPTIONS.greenlets} greenlets"
    print(f"{case}: {cpu_us:.1f} us an operation")
    print(f"{python_calls} calls of Python functions and {calls['C functions']} of C functions in each")
    print_top("own time", sampler.own, us_per_sample)
    print_top("with callees", sampler.within, us_per_sample)


if __name__ == "__main__":
    main()
