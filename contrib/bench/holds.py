"""How long the hub is held: a ticker greenlet, and a recorder of the pauses of Python's garbage collector.

Time in which the process was ready and another process had its core is nobody's hold: the kernel counts it
(the second number of /proc/self/schedstat), and it is taken out of every gap. Collections are pure computing:
they are measured in processor time.
"""

from __future__ import annotations

import gc
import os
from time import perf_counter, thread_time
from typing import Any

import gevent

TICK = 0.001


class Collections:
    """Pauses of the cyclic garbage collector of this thread, in seconds."""

    def __init__(self) -> None:
        self.total = 0.0
        self.longest = 0.0
        self._started = 0.0

    def start(self) -> None:
        gc.callbacks.append(self._note)

    def stop(self) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._started = thread_time()
            return
        pause = thread_time() - self._started
        self.total += pause
        if pause > self.longest:
            self.longest = pause


class Ticker:
    """A greenlet that sleeps a millisecond at a time and records the longest gaps between its turns."""

    def __init__(self) -> None:
        self.collections = Collections()
        self.longest = 0.0
        self.longest_without_gc = 0.0
        self._schedstat = os.open("/proc/self/schedstat", os.O_RDONLY)
        self._last = (0.0, 0.0, 0.0)
        self._greenlet: gevent.Greenlet | None = None

    def start(self) -> None:
        self.collections.start()
        self._last = self._now()
        self._greenlet = gevent.spawn(self._run)

    def stop(self) -> dict[str, float]:
        """End the watch; the longest hold with and without collections, and the longest collection, in ms."""
        self._tick()
        assert self._greenlet is not None
        self._greenlet.kill()
        self.collections.stop()
        os.close(self._schedstat)
        return {
            "hold_ms": self.longest * 1e3,
            "hold_without_gc_ms": self.longest_without_gc * 1e3,
            "gc_ms": self.collections.longest * 1e3,
        }

    def _run(self) -> None:
        while True:
            gevent.sleep(TICK)
            self._tick()

    def _tick(self) -> None:
        now = self._now()
        last, self._last = self._last, now
        gap = now[0] - last[0] - (now[1] - last[1])
        if gap > self.longest:
            self.longest = gap
        gap -= now[2] - last[2]
        if gap > self.longest_without_gc:
            self.longest_without_gc = gap

    def _now(self) -> tuple[float, float, float]:
        """The time, the time spent waiting for the core, the time spent in collections."""
        waited = os.pread(self._schedstat, 64, 0).split()[1]
        return perf_counter(), int(waited) / 1e9, self.collections.total
