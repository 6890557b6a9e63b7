"""Builds, starts and stops the C programs of the benchmark: the stub server and its load generator."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"


def compile_c(name: str) -> Path:
    """Compile `name`.c with optimisation where the program is missing or older than its source; its path.

    The new program replaces the old one in one step, so that two benchmarks can start at the same time.
    """
    source, program = HERE / f"{name}.c", BUILD / name
    if program.exists() and program.stat().st_mtime >= source.stat().st_mtime:
        return program
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit(f"the benchmark compiles {source.name}: install a C compiler, or name one in CC")
    BUILD.mkdir(exist_ok=True)
    fresh = BUILD / f"{name}.{os.getpid()}"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-o", str(fresh), str(source)], check=True)
    os.replace(fresh, program)
    return program


def split_cores() -> tuple[set[int], set[int]]:
    """The cores for the stub and for the measured process: one each; the same one where there is only one."""
    cores = sorted(os.sched_getaffinity(0))
    return {cores[0]}, {cores[-1]}


class Stub:
    """A running stub server; a context manager that ends it."""

    def __init__(self, cores: set[int] | None = None) -> None:
        self._process = subprocess.Popen(
            [str(compile_c("stub"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if cores:
            os.sched_setaffinity(self._process.pid, cores)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the stub server did not start (exit status {self._process.wait()})")
        self.port = int(line)
        self.pid = self._process.pid

    def close(self) -> int:
        """End the stub by closing its stdin; its exit status."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        status = self._process.wait(timeout=10)
        self._process.stdout.close()
        return status

    def __enter__(self) -> Stub:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def stub_capacity(connections: int = 100, seconds: float = 1.0) -> float:
    """Small finds per second that the stub answers, measured with a C client on the other core."""
    stub_cores, load_cores = split_cores()
    load = compile_c("load")
    with Stub(stub_cores) as stub:
        done = subprocess.run(
            [str(load), str(stub.port), str(connections), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, load_cores),
        )
    answered, took = done.stdout.split()
    return int(answered) / float(took)
