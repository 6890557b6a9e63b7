"""The benchmark of geomongo: side by side with PyMongo under monkey-patching, and with no driver at all.

    python contrib/bench/bench.py                # everything, about 5 minutes
    python contrib/bench/bench.py --quick        # one short round, under a minute
    python contrib/bench/bench.py --ops find_one --greenlets 100 --drivers geomongo,floor
    python contrib/bench/bench.py --check        # exit status 1 when a promise is not kept, naming it

It needs geomongo's dependencies (PyMongo among them), Linux and a C compiler. It compiles and starts a stub
server that answers at once (`stub.c`), on a core of its own where there are two, and measures each case in a
fresh process (`worker.py`) on the other:

- clients: `geomongo`; `pymongo` under `gevent.monkey.patch_all()`; `floor`, a bare socket on gevent's loop
  with the C codec, which decodes every reply whole (a client that decodes in slices can be faster than that);
- operations: find_one, insert_one, update_one; `read_1000` reads 1,000 documents of 175 bytes in a loop;
  `huge_loop` and `huge_list` read a 16.7 MB reply of 76,000 documents of 213 bytes, in a loop and by
  `list(cursor)`;
- numbers: operations per second, processor time (`time.process_time`) per operation, and with the 16 MB reply
  the longest time that the hub was held, with and without the pauses of Python's cyclic garbage collector,
  and the longest such pause;
- the time of the imports in fresh interpreters, and whether importing geomongo started or opened anything.

`--json FILE` keeps every round, `--rst FILE` writes the tables for the documentation.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from import_time import has_client, measure_imports, probe_import
from operations import OPERATIONS
from plan import Plan, Row, disturbed, run_plan
from stub_control import Stub, split_cores, stub_capacity
from table import as_rst, as_text
from targets import check_targets

DRIVERS = ("geomongo", "pymongo", "floor")


def names(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.replace(" ", "").split(",") if part)


def counts(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in names(text))


def read_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--drivers", type=names, help=f"of {','.join(DRIVERS)} (default: all)")
    parser.add_argument("--ops", type=names, default=OPERATIONS, help=f"of {','.join(OPERATIONS)}")
    parser.add_argument("--greenlets", type=counts, help="default: 1,10,100")
    parser.add_argument("--huge-greenlets", type=counts, help="for the 16 MB reply; default: 1,10 (quick: 1)")
    parser.add_argument("--seconds", type=float, help="of each measurement; default: 1, or 0.4 if quick")
    parser.add_argument("--repeat", type=int, help="rounds; default: 3, or 1 if quick")
    parser.add_argument("--quick", action="store_true", help="one short round, without 10 greenlets")
    parser.add_argument("--no-imports", action="store_true", help="leave the import times out")
    parser.add_argument("--check", action="store_true", help="exit status 1 when a promise is not kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured")
    parser.add_argument("--rst", type=Path, metavar="FILE", help="write the tables as reStructuredText")
    options = parser.parse_args(arguments)
    for given, known in ((options.drivers or (), DRIVERS), (options.ops, OPERATIONS)):
        unknown = set(given) - set(known)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    return options


def make_plan(options: argparse.Namespace) -> Plan:
    """What the options ask for; without geomongo where it cannot be imported and was not named."""
    quick = options.quick
    drivers = options.drivers
    if drivers is None:
        drivers = DRIVERS if has_client() else DRIVERS[1:]
        if drivers != DRIVERS:
            print("geomongo.MongoClient cannot be imported: measuring the others", file=sys.stderr)
    return Plan(
        drivers=drivers,
        operations=options.ops,
        greenlets=options.greenlets or ((1, 100) if quick else (1, 10, 100)),
        huge_greenlets=options.huge_greenlets or ((1,) if quick else (1, 10)),
        seconds=options.seconds or (0.4 if quick else 1.0),
        repeat=options.repeat or (1 if quick else 3),
    )


def describe(plan: Plan, capacity: float, rows: list[Row]) -> dict[str, Any]:
    """The conditions of the run."""
    versions = {"CPython": platform.python_version()}
    versions.update({name: metadata.version(name) for name in ("gevent", "pymongo")})
    stub_cores, client_cores = split_cores()
    return {
        "machine": f"{platform.system()} {platform.machine()}",
        "processor": processor_name(),
        "two_cores": stub_cores != client_cores,
        "versions": versions,
        "repeat": plan.repeat,
        "seconds": plan.seconds,
        "stub_capacity": capacity,
        "stub_busy": max((row.get("stub_busy", 0.0) for row in rows), default=0.0),
    }


def processor_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    return platform.machine()


def say(text: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def measure(plan: Plan, options: argparse.Namespace) -> dict[str, Any]:
    """Run the plan; everything that was measured."""
    capacity = stub_capacity()
    stub_cores, client_cores = split_cores()
    with Stub(stub_cores) as stub:
        rows = run_plan(plan, stub, client_cores, say)
    imports = probe = None
    if not options.no_imports:
        imports = measure_imports(plan.drivers, 3 if options.quick else 10, say)
        probe = probe_import() if "geomongo" in plan.drivers else {}
    say("")
    return {"about": describe(plan, capacity, rows), "rows": rows, "imports": imports, "import_leaves": probe}


def main() -> int:
    options = read_arguments()
    plan = make_plan(options)
    result = measure(plan, options)
    targets = check_targets(plan, result["rows"], result["imports"], result["import_leaves"])
    result["targets"] = [{"target": str(target), "met": target.met} for target in targets]
    print(as_text(result, plan))
    for line in disturbed(result["rows"]):
        print(line)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.rst:
        options.rst.write_text(as_rst(result, plan))
    failed = [row for row in result["rows"] if "error" in row]
    for row in failed:
        case = f"{row['driver']} {row['operation']} {row['greenlets']}"
        print(f"FAILED  {case}: {row['error']}", file=sys.stderr)
    if options.check:
        print("\n".join(map(str, targets)))
    missed = options.check and not all(target.met for target in targets)
    return 1 if failed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
