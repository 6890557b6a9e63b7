"""The speeds and manners that geomongo promises, checked against one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from operations import HUGE_OPERATIONS
from plan import Plan, Row, find_row, ratio

SMALL = ("find_one", "insert_one", "update_one")
MAX_CPU_US = 30.0
MAX_HOLD_MS = 10.0
#: Collections of two processes are compared with this tolerance: they are the same work on a noisy machine.
GC_TOLERANCE = 1.1
#: (operation, greenlets, at least so many times PyMongo's operations per second)
RATIOS = (
    *((name, 100, 3.5) for name in SMALL),
    ("read_1000", 1, 1.1),
    ("read_1000", 100, 4.0),
    ("huge_loop", 1, 2.5),
)


@dataclass(frozen=True)
class Target:
    """One promise and what was measured; `value` is None where the measurement is missing."""

    text: str
    value: float | None
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        if self.value is None:
            return False
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        found = "not measured" if self.value is None else f"{self.value:.2f}"
        sign = "at least" if self.at_least else "at most"
        return f"{'met   ' if self.met else 'MISSED'}  {self.text}: {found} ({sign} {self.limit:.2f})"


def check_targets(
    plan: Plan, rows: list[Row], imports: dict[str, float] | None, probe: dict[str, Any] | None
) -> list[Target]:
    """Every promise about a case that this run was asked to measure."""
    targets = [*_speed(plan, rows), *_holds(plan, rows)]
    if imports is not None and probe is not None:
        targets += _imports(imports, probe)
    return targets


def case(name: str, count: int) -> str:
    return f"{name}, {count} greenlet{'' if count == 1 else 's'}"


def _speed(plan: Plan, rows: list[Row]) -> Iterator[Target]:
    asked = set(plan.cases())
    for name, count, limit in RATIOS:
        if (name, count) in asked:
            text = f"{case(name, count)}: times PyMongo's speed"
            yield Target(text, ratio(rows, name, count, "pymongo"), limit, at_least=True)
    for name in SMALL:
        if (name, 100) in asked:
            cpu = find_row(rows, name, 100, "geomongo").get("cpu_us")
            yield Target(f"{case(name, 100)}: us of processor time", cpu, MAX_CPU_US)


def _holds(plan: Plan, rows: list[Row]) -> Iterator[Target]:
    for name, count in plan.cases():
        if name not in HUGE_OPERATIONS:
            continue
        mine = find_row(rows, name, count, "geomongo")
        held = mine.get("hold_without_gc_ms")
        yield Target(f"{case(name, count)}: longest hub hold in ms", held, MAX_HOLD_MS)
        theirs = find_row(rows, name, count, "pymongo").get("gc_ms")
        if theirs is not None:
            text = f"{case(name, count)}: longest collection in ms"
            yield Target(text, mine.get("gc_ms"), theirs * GC_TOLERANCE)


def _imports(imports: dict[str, float], probe: dict[str, Any]) -> Iterator[Target]:
    mine, theirs = imports.get("import geomongo"), imports.get("import pymongo")
    part = mine / theirs if mine is not None and theirs else None
    yield Target("import geomongo: part of import pymongo's time", part, 0.5)
    yield Target("import geomongo: threads afterwards", probe.get("threads"), 1)
    yield Target("import geomongo: hubs started", probe.get("hub"), 0)
    yield Target("import geomongo: files and sockets opened", probe.get("opened"), 0)
    yield Target("import geomongo: imports pymongo", probe.get("pymongo_imported"), 0)
