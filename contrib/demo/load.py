"""The demo's load: greenlets that place orders over HTTP and check every answer to the last digit.

A process of its own, so that it does not share a core's time or a hub with what it measures.  Prints one line
of JSON a quarter of a second, and at the end one with everything.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from typing import Any

import gevent
from gevent import socket

PROGRESS_SECONDS = 0.25
ANSWER_SECONDS = 30.0
KEEP_PROBLEMS = 5


class WrongAnswer(Exception):
    """An answer that is not what the orders placed so far make it."""


class Connection:
    """One keep-alive HTTP/1.1 connection; what the demo's application sends is all that it understands."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any, str]:
        """Sends one request; returns the status code, the answer and the worker that gave it."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: demo\r\nContent-Length: {len(data)}\r\n\r\n"
        self._socket.sendall(head.encode() + data)
        status = self._file.readline().split()
        if len(status) < 2:
            raise ConnectionError("the server closed the connection")
        headers = self._headers()
        answer = json.loads(self._file.read(int(headers["content-length"])))
        return int(status[1]), answer, headers.get("x-worker", "?")

    def close(self) -> None:
        """Lets go of the socket."""
        self._file.close()
        self._socket.close()

    def _headers(self) -> dict[str, str]:
        headers = {}
        while line := self._file.readline().strip().decode():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return headers


class Load:
    """Customers at work, and what they saw."""

    def __init__(self, address: tuple[str, int], seconds: float) -> None:
        self.address = address
        self.deadline = time.monotonic() + seconds
        self.latencies: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, int] = defaultdict(int)
        self.problems: list[str] = []

    def customer(self, name: str) -> None:
        """Places orders one after the other until the time is over; each takes five requests."""
        connection = None
        placed = cents = 0
        while time.monotonic() < self.deadline:
            try:
                if connection is None:
                    connection = Connection(self.address)
                placed += 1
                cents += self.order(connection, name, placed, cents)
            except (OSError, ValueError, KeyError, WrongAnswer) as error:
                self.note("none" if not isinstance(error, WrongAnswer) else str(error.args[1]), error)
                if connection is not None:
                    connection.close()
                return  # what this customer's sums should be is no longer known
        if connection is not None:
            connection.close()

    def order(self, connection: Connection, name: str, number: int, before: int) -> int:
        """One order from its insertion to the customer's sum; returns what it cost."""
        cents = 100 + number * 7 % 900
        order = {"id": f"{name}-{number}", "customer": name, "cents": cents}
        stored = {"_id": order["id"], "customer": name, "cents": cents, "state": "new"}
        path = f"/orders/{order['id']}"
        paid = {"paid": {"orders": number, "cents": before + cents}}
        self.expect(connection, (201, {"inserted": order["id"]}), "POST", "/orders", order)
        self.expect(connection, (200, stored), "GET", path)
        self.expect(connection, (200, {"matched": 1, "modified": 1}), "POST", f"{path}/pay")
        self.expect(connection, (200, {**stored, "state": "paid"}), "GET", path)
        self.expect(connection, (200, paid), "GET", f"/customers/{name}")
        return cents

    def expect(
        self, connection: Connection, wanted: tuple[int, Any], method: str, path: str, body: Any = None
    ) -> None:
        """One request, timed, whose answer must be exactly this."""
        started = time.perf_counter()
        code, answer, worker = connection.request(method, path, body)
        self.latencies[worker].append((time.perf_counter() - started) * 1000)
        if (code, answer) != wanted:
            raise WrongAnswer(f"{method} {path}: got {code} {answer}, expected {wanted}", worker)

    def note(self, worker: str, error: Exception) -> None:
        """Counts an error, and keeps the first few to show."""
        self.errors[worker] += 1
        if worker == "none":
            self.latencies.setdefault(worker, [])
        if len(self.problems) < KEEP_PROBLEMS:
            text = error.args[0] if isinstance(error, WrongAnswer) else error
            self.problems.append(f"{type(error).__name__}: {text}")

    def totals(self) -> dict[str, int]:
        """Requests and errors so far."""
        answered = sum(len(times) for times in self.latencies.values())
        return {"requests": answered + self.errors["none"], "errors": sum(self.errors.values())}


def quantile(sorted_times: list[float], share: float) -> float:
    """The value below which this share of the times lies."""
    return sorted_times[min(len(sorted_times) - 1, int(len(sorted_times) * share))] if sorted_times else 0.0


def row(name: str, times: list[float], errors: int, seconds: float) -> dict[str, Any]:
    """One line of the final table."""
    times = sorted(times)
    return {
        "name": name,
        "requests": len(times) + (errors if name == "none" else 0),
        "errors": errors,
        "per_second": len(times) / seconds,
        "p50_ms": quantile(times, 0.50),
        "p99_ms": quantile(times, 0.99),
    }


def say(message: dict[str, Any]) -> None:
    """One line for the process that reads us."""
    print(json.dumps(message), flush=True)


def main() -> int:
    """Runs the load that the arguments describe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--greenlets", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--name", required=True, help="what customers' names begin with")
    options = parser.parse_args()

    load = Load(("127.0.0.1", options.port), options.seconds)
    started = time.monotonic()
    customers = [gevent.spawn(load.customer, f"{options.name}-{n}") for n in range(options.greenlets)]
    while gevent.wait(customers, timeout=PROGRESS_SECONDS) is not None and not all(c.dead for c in customers):
        say({"elapsed": time.monotonic() - started, **load.totals()})
    seconds = time.monotonic() - started
    everything = [took for times in load.latencies.values() for took in times]
    rows = [row(name, times, load.errors[name], seconds) for name, times in sorted(load.latencies.items())]
    total = row("total", everything, sum(load.errors.values()), seconds)
    total["requests"] = load.totals()["requests"]
    crashed = sum(not customer.successful() for customer in customers)
    say({"done": True, "workers": rows, "total": total, "problems": load.problems, "crashed": crashed})
    return 0 if everything and not total["errors"] and not crashed else 1


if __name__ == "__main__":
    sys.exit(main())
