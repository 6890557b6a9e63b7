"""The results as tables: plain text for a terminal, the same as reStructuredText for the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from operations import HUGE_OPERATIONS
from plan import Plan, Row, find_row, ratio

MISSING = "n/a"


@dataclass(frozen=True)
class Table:
    """A title, column heads and rows of text; the first column is aligned left, the others right."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self, gap: str = "  ") -> list[str]:
        """The title, a blank line, and the table between rules (a "simple table" of reStructuredText)."""
        columns = list(zip(self.heads, *self.rows))
        widths = [max(len(cell) for cell in column) for column in columns]
        rule = gap.join("=" * width for width in widths)

        def line(cells: tuple[str, ...]) -> str:
            padded = [cells[0].ljust(widths[0])]
            padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
            return gap.join(padded).rstrip()

        return [self.title, "", rule, line(self.heads), rule, *map(line, self.rows), rule, ""]


def number(value: float | None, digits: int = 0, suffix: str = "") -> str:
    """A number with thousands separators, or n/a."""
    return MISSING if value is None else f"{value:,.{digits}f}{suffix}"


def speed_table(plan: Plan, rows: list[Row]) -> Table:
    """Operations per second, processor time per operation and the ratios."""
    heads = ["operation", "greenlets"]
    heads += [f"{driver} op/s" for driver in plan.drivers] + [f"{driver} us" for driver in plan.drivers]
    heads += ["geomongo/pymongo", "geomongo/floor"]
    lines = []
    for operation, count in plan.cases():
        found = [find_row(rows, operation, count, driver) for driver in plan.drivers]
        slow = operation in HUGE_OPERATIONS
        line = [operation, str(count)]
        line += [number(row.get("ops_per_second"), 2 if slow else 0) for row in found]
        line += [number(row.get("cpu_us"), 0 if slow else 1) for row in found]
        line += [number(ratio(rows, operation, count, other), 2) for other in ("pymongo", "floor")]
        lines.append(tuple(line))
    title = "Operations per second (op/s) and processor time per operation (us):"
    return Table(title, tuple(heads), tuple(lines))


def hold_table(plan: Plan, rows: list[Row]) -> Table | None:
    """How long the hub was held while a 16 MB reply was read; None where that was not measured."""
    heads = ("operation", "greenlets", "client", "longest hold", "without collections", "longest collection")
    lines = []
    for operation, count in plan.cases():
        for driver in plan.drivers if operation in HUGE_OPERATIONS else ():
            row = find_row(rows, operation, count, driver)
            values = (row.get("hold_ms"), row.get("hold_without_gc_ms"), row.get("gc_ms"))
            lines.append((operation, str(count), driver, *(number(value, 1) for value in values)))
    title = "Longest time the hub was held while a 16 MB reply was read (ms, worst round):"
    return Table(title, heads, tuple(lines)) if lines else None


def import_table(imports: dict[str, float]) -> Table | None:
    """Import times; None where none was measured."""
    lines = []
    for statement, took in imports.items():
        other = imports.get(statement.replace("geomongo", "pymongo")) if "geomongo" in statement else None
        lines.append((statement, number(took, 1), number(took / other, 2) if other else MISSING))
    heads = ("statement", "ms", "part of pymongo's")
    return Table("Import times in fresh interpreters (ms, best):", heads, tuple(lines)) if lines else None


def all_tables(result: dict[str, Any], plan: Plan) -> list[Table]:
    """Every table that this run has numbers for."""
    rows: list[Row] = result["rows"]
    tables = [speed_table(plan, rows), hold_table(plan, rows), import_table(result["imports"] or {})]
    return [table for table in tables if table is not None]


def conditions(result: dict[str, Any]) -> str:
    """One paragraph: on what and how this was measured."""
    about = result["about"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    cores = "a core each for client and stub" if about["two_cores"] else "one core for client and stub"
    repeat = about["repeat"]
    rounds = "one round" if repeat == 1 else f"median of {repeat} interleaved rounds"
    return (
        f"Measured on {about['machine']} ({about['processor']}; {cores}) with {versions}: "
        f"{rounds} of {about['seconds']:g} s. The stub server answers "
        f"{about['stub_capacity']:,.0f} small requests per second; it was busy for at most "
        f"{about['stub_busy']:.0%} of a measurement."
    )


def as_text(result: dict[str, Any], plan: Plan) -> str:
    """The result for a terminal."""
    lines = [conditions(result), ""]
    for table in all_tables(result, plan):
        lines += table.lines()
    return "\n".join(lines)


def as_rst(result: dict[str, Any], plan: Plan) -> str:
    """The result as a fragment of reStructuredText, to be included in a page."""
    lines = [".. Written by contrib/bench/bench.py --rst; do not edit.", "", conditions(result), ""]
    for table in all_tables(result, plan):
        lines += table.lines()
    return "\n".join(lines)
