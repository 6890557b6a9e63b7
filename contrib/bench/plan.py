"""Which cases are measured, in what order, and how the rounds become one number a case.

Each case runs in a process of its own. Rounds are interleaved (A B C, A B C, ...), so that a noisy moment
hits all drivers alike, and the median of the rounds counts; for holds of the hub, where the promise is
"never", the worst round counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from operations import HUGE_OPERATIONS
from stub_control import HERE, Stub

ROOT = HERE.parent.parent
WORST = ("hold_ms", "hold_without_gc_ms", "gc_ms", "stub_busy")
#: A client with work at hand that had its core for a smaller part of the time than this was disturbed.
MIN_BUSY = 0.9
Row = dict[str, Any]


class WorkerFailed(Exception):
    """A measuring process ended with an error; its text is the end of what it wrote to stderr."""


@dataclass(frozen=True)
class Plan:
    """What one run of the benchmark measures."""

    drivers: tuple[str, ...]
    operations: tuple[str, ...]
    greenlets: tuple[int, ...]
    huge_greenlets: tuple[int, ...]
    seconds: float
    repeat: int

    def cases(self) -> Iterator[tuple[str, int]]:
        """Every (operation, greenlets) of the run."""
        for operation in self.operations:
            for count in self.huge_greenlets if operation in HUGE_OPERATIONS else self.greenlets:
                yield operation, count


def child_environment() -> dict[str, str]:
    """The environment of a measuring process: it finds geomongo in this tree, installed or not."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def run_python(arguments: list[str], timeout: float = 120.0) -> str:
    """Run a fresh interpreter; what it printed. Raises WorkerFailed on failure or after `timeout` seconds."""
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=child_environment(), timeout=timeout
        )
    except subprocess.TimeoutExpired:
        raise WorkerFailed(f"no answer within {timeout:g} seconds") from None
    if done.returncode:
        raise WorkerFailed(f"exit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def run_case(stub: Stub, cores: set[int], driver: str, operation: str, count: int, seconds: float) -> Row:
    """Measure one case once."""
    case = {"driver": driver, "operation": operation, "greenlets": count, "seconds": seconds}
    case.update(port=stub.port, stub_pid=stub.pid, cores=sorted(cores))
    return dict(json.loads(run_python([str(Path(HERE, "worker.py")), json.dumps(case)])))


def combine(rounds: list[Row]) -> Row:
    """One row from the rounds of a case: medians, and the worst of what must never happen."""
    row: Row = {}
    for name in rounds[0]:
        values = [one[name] for one in rounds]
        row[name] = max(values) if name in WORST else median(values)
    row["rounds"] = rounds
    return row


def run_plan(plan: Plan, stub: Stub, cores: set[int], say: Callable[[str], None]) -> list[Row]:
    """Measure everything; a row for each case and driver, with `error` in it where the process failed."""
    rows: list[Row] = []
    for operation, count in plan.cases():
        found: dict[str, list[Row]] = {driver: [] for driver in plan.drivers}
        failed: dict[str, str] = {}
        for _ in range(plan.repeat):
            for driver in plan.drivers:
                if driver in failed:
                    continue
                say(f"{operation}, {count} greenlets: {driver}")
                try:
                    found[driver].append(run_case(stub, cores, driver, operation, count, plan.seconds))
                except WorkerFailed as error:
                    failed[driver] = str(error)
        for driver in plan.drivers:
            row: Row = {"operation": operation, "greenlets": count, "driver": driver}
            row.update({"error": failed[driver]} if driver in failed else combine(found[driver]))
            rows.append(row)
    return rows


def find_row(rows: list[Row], operation: str, greenlets: int, driver: str) -> Row:
    """The row of one case and driver; empty where it was not measured or failed."""
    for row in rows:
        if (row["operation"], row["greenlets"], row["driver"]) == (operation, greenlets, driver):
            return {} if "error" in row else row
    return {}


def ratio(rows: list[Row], operation: str, greenlets: int, other: str) -> float | None:
    """How many times `other`'s operations per second geomongo does, or None where one of them is missing."""
    mine = find_row(rows, operation, greenlets, "geomongo").get("ops_per_second")
    theirs = find_row(rows, operation, greenlets, other).get("ops_per_second")
    return mine / theirs if mine and theirs else None


def disturbed(rows: list[Row]) -> list[str]:
    """A warning for each measurement in which the client should have filled its core and did not.

    With ten greenlets, or a reply of 16 MB, there is always something to do: then another process had the core, and
    the operations per second say little. The processor time per operation stays comparable.
    """
    return [
        f"DISTURBED  {row['driver']} {row['operation']} {row['greenlets']}: had its core for {row['busy']:.0%} "
        "of the time; trust its processor time, not its op/s"
        for row in rows
        if row.get("busy", 1.0) < MIN_BUSY and (row["greenlets"] >= 10 or row["operation"] in HUGE_OPERATIONS)
    ]
