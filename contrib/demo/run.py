"""The demo: a server, gunicorn with gevent workers on a geomongo application, HTTP load, and a table.

Exits 0 only when every request was answered correctly.  What it starts, it stops by its process id.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import geomongo
from contrib.demo.report import EVERY_SECONDS, read_reports
from geomongo.errors import PyMongoError
from tests.deployment.secantus import Secantus

BOOT_SECONDS = 60.0
STOP_SECONDS = 15.0
COLUMNS = (  # heading, key, format
    ("worker", "name", "{}"),
    ("requests", "requests", "{:,}"),
    ("errors", "errors", "{:,}"),
    ("requests/s", "per_second", "{:,.0f}"),
    ("p50 ms", "p50_ms", "{:.1f}"),
    ("p99 ms", "p99_ms", "{:.1f}"),
    ("longest hub stall ms", "stall_ms", "{:.1f}"),
    ("server connections", "connections", "{}"),
)


class DemoFailed(Exception):
    """Something did not come up; the text says what, and shows the log."""


class Gunicorn:
    """gunicorn's master process on a socket of ours."""

    def __init__(self, listener: socket.socket, uri: str, database: str, workers: int, folder: Path) -> None:
        self.port: int = listener.getsockname()[1]
        self._log = folder / "gunicorn.log"
        environment = {
            **os.environ,
            "GEOMONGO_URI": uri,
            "GEOMONGO_DEMO_DATABASE": database,
            "GEOMONGO_DEMO_FD": str(listener.fileno()),
            "GEOMONGO_DEMO_STATUS": str(folder),
            "GEOMONGO_DEMO_WORKERS": str(workers),
        }
        command = [sys.executable, "-m", "gunicorn", "-c", str(Path(__file__).with_name("gunicorn_conf.py"))]
        with self._log.open("wb") as log:
            # A session of its own: Ctrl-C reaches us, and we stop gunicorn in order.
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )

    def wait_ready(self, workers: int, folder: Path) -> None:
        """Returns when every worker reports and the page answers.  Raises DemoFailed."""
        deadline = time.monotonic() + BOOT_SECONDS
        while len(read_reports(folder)) < workers:
            if time.monotonic() > deadline:
                raise DemoFailed(f"gunicorn's workers were not up in {BOOT_SECONDS:.0f} s:\n{self.log()}")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)
                raise DemoFailed(f"gunicorn ended with {self.process.returncode}:\n{self.log()}")
        page = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOOT_SECONDS)
        page.request("GET", "/")
        if page.getresponse().status != 200:
            raise DemoFailed(f"the demo's page does not answer:\n{self.log()}")
        page.close()

    def log(self) -> str:
        """The end of what gunicorn and its workers printed."""
        return self._log.read_text(errors="replace")[-6000:]

    def stop(self) -> None:
        """Ends the master, which ends its workers."""
        stop(self.process)


def stop(process: subprocess.Popen[Any]) -> None:
    """Asks a child to end, and insists when it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URI of the server to use: the one that GEOMONGO_URI names, or an embedded one for the time."""
    named = os.environ.get("GEOMONGO_URI")
    if named:
        print("Using the server that GEOMONGO_URI names ... ", end="", flush=True)
        with geomongo.MongoClient(named, serverSelectionTimeoutMS=5000) as client:
            client.admin.command("ping")
        print("it answers")
        yield named
        return
    print("Starting an embedded server (SecantusDB) ... ", end="", flush=True)
    with Secantus() as secantus:
        print(f"ready at {secantus.host}:{secantus.port}")
        yield secantus.uri


@contextlib.contextmanager
def application(options: argparse.Namespace, uri: str, database: str, folder: Path) -> Iterator[Gunicorn]:
    """gunicorn, up and answering."""
    print(f"Starting gunicorn (gevent, {options.workers} workers, preloaded) ... ", end="", flush=True)
    with socket.create_server(("127.0.0.1", options.port), backlog=1024) as listener:
        gunicorn = Gunicorn(listener, uri, database, options.workers, folder)
        try:
            gunicorn.wait_ready(options.workers, folder)
            print(f"ready at http://127.0.0.1:{gunicorn.port}/")
            yield gunicorn
        finally:
            gunicorn.stop()


def run_load(options: argparse.Namespace, port: int, name: str) -> dict[str, Any]:
    """Runs the load generator, showing its progress; returns its last line."""
    arguments = {"port": port, "greenlets": options.greenlets, "seconds": options.seconds, "name": name}
    command = [sys.executable, str(Path(__file__).with_name("load.py"))]
    command += [f"--{key}={value}" for key, value in arguments.items()]
    print(f"Sending requests over {options.greenlets} connections for {options.seconds:g} s")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    progress = Progress(options.seconds)
    try:
        for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("done"):
                progress.end()
                return message
            progress.show(message)
        raise DemoFailed(f"the load generator ended with {process.wait()} and without figures")
    finally:
        stop(process)
        process.stdout.close()


class Progress:
    """One line, rewritten, on a terminal; elsewhere a line a second."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._rewrites = sys.stdout.isatty()
        self._last = 0.0

    def show(self, message: dict[str, Any]) -> None:
        elapsed = message["elapsed"]
        if not self._rewrites and elapsed - self._last < 1:
            return
        rate = message["requests"] / elapsed
        done = min(1.0, elapsed / self._seconds)
        bar = ("#" * round(done * 30)).ljust(30, ".")
        text = f"  [{bar}] {elapsed:4.1f}/{self._seconds:g} s  {message['requests']:,} requests"
        text += f"  {rate:,.0f}/s  {message['errors']} errors"
        print(f"\r{text}\033[K" if self._rewrites else text, end="" if self._rewrites else "\n", flush=True)
        self._last = elapsed

    def end(self) -> None:
        if self._rewrites:
            print("\r\033[K", end="")


def print_table(outcome: dict[str, Any], reports: list[dict[str, Any]]) -> None:
    """What came out, per worker and in total."""
    by_worker = {str(report["pid"]): [report] for report in reports}
    rows = []
    for row in [*outcome["workers"], outcome["total"]]:
        chosen = reports if row["name"] == "total" else by_worker.get(row["name"], [])
        stall = max((report["stall_ms"] for report in chosen), default=None)
        connections = sum(pool["size"] for report in chosen for pool in report["pools"])
        rows.append({**row, "stall_ms": stall, "connections": connections})
    cells = [[heading for heading, _, _ in COLUMNS]]
    for row in rows:
        cells.append(["-" if row[key] is None else form.format(row[key]) for _, key, form in COLUMNS])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    print()
    for number, line in enumerate(cells):
        if number in (1, len(cells) - 1):
            print(rule)
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    print()


def verdict(outcome: dict[str, Any], workers: int, reports: list[dict[str, Any]], log: str) -> bool:
    """Says, in a sentence, whether all went well."""
    total = outcome["total"]
    for problem in outcome["problems"]:
        print(f"  {problem}")
    if total["errors"] or outcome["crashed"] or not total["requests"] or len(reports) < workers:
        print(f"FAILED: {total['errors']} of {total['requests']} requests went wrong.")
        print(f"{len(reports)} of {workers} workers report.")
        print(log)
        return False
    print(f"All {total['requests']:,} requests were answered correctly.")
    if log.strip():
        print(f"gunicorn printed:\n{log}")
    return True


def serve(gunicorn: Gunicorn) -> None:
    """Waits until Ctrl-C, or until gunicorn ends."""
    print(f"Serving at http://127.0.0.1:{gunicorn.port}/ -- Ctrl-C ends it", flush=True)
    try:
        gunicorn.process.wait()
    except KeyboardInterrupt:
        print("\nStopping")
        return
    raise DemoFailed(f"gunicorn ended with {gunicorn.process.returncode}:\n{gunicorn.log()}")


def demo(options: argparse.Namespace) -> bool:
    """Everything in order; whatever happens, what was started is stopped."""
    name = secrets.token_hex(4)
    database = f"geomongo_demo_{name}"
    with tempfile.TemporaryDirectory(prefix="geomongo-demo-") as status, server() as uri:
        folder = Path(status)
        try:
            with application(options, uri, database, folder) as gunicorn:
                outcome = run_load(options, gunicorn.port, name)
                threading.Event().wait(1.5 * EVERY_SECONDS)  # until every worker wrote its last figures
                reports = read_reports(folder)
                print_table(outcome, reports)
                good = verdict(outcome, options.workers, reports, gunicorn.log())
                if options.serve:
                    serve(gunicorn)
                return good
        finally:
            with contextlib.suppress(PyMongoError), geomongo.MongoClient(uri, serverSelectionTimeoutMS=5000) as client:
                client.drop_database(database)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="sh contrib/demo.sh", description=__doc__)
    parser.add_argument("--serve", action="store_true", help="keep it and its page up after the load")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long to send requests (default: 8)")
    parser.add_argument("--greenlets", type=int, default=50, help="connections that send them (default: 50)")
    parser.add_argument("--workers", type=int, default=2, help="gunicorn workers (default: 2)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    return parser.parse_args()


def main() -> int:
    """Runs the demo; the exit code says whether all was right."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # end as after Ctrl-C: everything started is stopped
        signal.signal(number, signal.default_int_handler)
    options = parse_arguments()
    try:
        return 0 if demo(options) else 1
    except KeyboardInterrupt:
        print("\nInterrupted; everything was stopped.")
        return 130
    except (DemoFailed, PyMongoError, RuntimeError, OSError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
