"""What a worker of the demo tells about itself: its figures, written to a file every second.

A file for each worker is the simplest thing that lets any worker, and the demo's own process, show them all.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from pathlib import Path
from typing import Any

import gevent

from contrib.ticker import HubTicker
from geomongo import monitoring

EVERY_SECONDS = 1.0
STALE_SECONDS = 5.0
RECENT = 25


class RecentCommands(monitoring.CommandListener):
    """Keeps the newest commands, as a PyMongo-shaped listener sees them."""

    def __init__(self) -> None:
        self.newest: deque[dict[str, Any]] = deque(maxlen=RECENT)
        self.total = 0

    def started(self, event: Any) -> None:
        self.total += 1

    def succeeded(self, event: Any) -> None:
        self._keep(event, "ok")

    def failed(self, event: Any) -> None:
        self._keep(event, "failed")

    def _keep(self, event: Any, outcome: str) -> None:
        host, port = event.connection_id
        self.newest.append(
            {
                "at": time.time(),
                "command": event.command_name,
                "database": event.database_name,
                "server": f"{host}:{port}",
                "ms": event.duration_micros / 1000,
                "outcome": outcome,
            }
        )


class WorkerReport:
    """The figures of one worker; `start` begins to measure and to write them."""

    def __init__(self, client: Any, recent: RecentCommands, directory: Path) -> None:
        self.directory = directory
        self.requests = 0
        self.errors = 0
        self._client = client
        self._recent = recent
        self._ticker = HubTicker()

    def start(self) -> None:
        """Called in the worker, after the fork: a greenlet made before it would not run here."""
        self._recent.newest.clear()
        self._recent.total = 0
        self._ticker.start()
        gevent.spawn(self._run)

    def _run(self) -> None:
        while True:
            self._write()
            gevent.sleep(EVERY_SECONDS)

    def _write(self) -> None:
        path = self.directory / f"worker-{os.getpid()}.json"
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self._figures()))
        fresh.replace(path)  # a reader sees the old figures or the new ones, never half of them

    def _figures(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "requests": self.requests,
            "errors": self.errors,
            "commands": self._recent.total,
            "stall_ms": self._ticker.longest_ms,
            "gc_ms": self._ticker.longest_gc_ms,
            "pools": [pool_figures(pool) for pool in self._client.pool_stats()],
            "topology": topology_figures(self._client.topology_description),
            "recent": list(self._recent.newest),
        }


def pool_figures(pool: Any) -> dict[str, Any]:
    """One row of `MongoClient.pool_stats`, as JSON can hold it."""
    figures = {name: getattr(pool, name) for name in ("size", "idle", "in_use", "waiters")}
    return {"address": "{}:{}".format(*pool.address), **figures}


def topology_figures(topology: Any) -> dict[str, Any]:
    """What the page shows of a `TopologyDescription`."""
    servers = topology.server_descriptions().values()
    return {
        "type": topology.topology_type_name,
        "set": topology.replica_set_name,
        "servers": [
            {
                "address": "{}:{}".format(*server.address),
                "type": server.server_type_name,
                "rtt_ms": None if server.round_trip_time is None else server.round_trip_time * 1000,
            }
            for server in servers
        ],
    }


def read_reports(directory: Path) -> list[dict[str, Any]]:
    """The figures of every worker that wrote some lately."""
    reports = []
    for path in sorted(directory.glob("worker-*.json")):
        try:
            if time.time() - path.stat().st_mtime <= STALE_SECONDS:
                reports.append(json.loads(path.read_text()))
        except FileNotFoundError:
            continue  # another process tidied up between the two calls
    return reports
