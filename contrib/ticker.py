"""How long was the hub held?  A greenlet that wakes every few milliseconds and measures how late it is.

Used by the tests, the demo and the benchmark.  Three things make a tick late: greenlets that did not give
the hub back (what we want to know), the kernel running another process on this core, and a pause of
Python's cyclic garbage collector.  The last two are measured apart and taken off, so that a busy machine
does not look like a held hub.
"""

from __future__ import annotations

import gc
import os
import time
from typing import Any

import gevent

# What the kernel tells of a thread: nanoseconds on a core, nanoseconds runnable but not run, time slices.
_SCHEDSTAT = "/proc/thread-self/schedstat"


class HubTicker:
    """Measures the hub of the thread that starts it.  All times are in milliseconds."""

    def __init__(self, period_ms: float = 2.0) -> None:
        self.period_ms = period_ms
        self.longest_ms = 0.0
        self.longest_raw_ms = 0.0
        self.longest_gc_ms = 0.0
        self.ticks = 0
        self._greenlet: gevent.Greenlet | None = None
        self._schedstat = -1
        self._gc_started = 0.0
        self._gc_ms = 0.0

    def start(self) -> HubTicker:
        """Begins to tick; the figures count from here."""
        try:
            self._schedstat = os.open(_SCHEDSTAT, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._schedstat = -1  # not Linux: waits for a core are not told apart from a held hub
        gc.callbacks.append(self._on_gc)
        self._greenlet = gevent.spawn(self._run)
        return self

    def stop(self) -> None:
        """Waits for one last tick, so that a hold right before this call is seen, and ends."""
        greenlet, self._greenlet = self._greenlet, None
        if greenlet is None:
            return
        ticks = self.ticks
        while self.ticks == ticks and not greenlet.dead:
            gevent.sleep(self.period_ms / 1000)
        greenlet.kill()
        gc.callbacks.remove(self._on_gc)
        if self._schedstat >= 0:
            os.close(self._schedstat)

    def reset(self) -> None:
        """Forgets what was measured so far."""
        self.longest_ms = self.longest_raw_ms = self.longest_gc_ms = 0.0

    def _run(self) -> None:
        period = self.period_ms
        while True:
            gc_before, queued_before, due = self._gc_ms, self._queued_ms(), _now_ms() + period
            gevent.sleep(period / 1000)
            late = _now_ms() - due
            gc_ms = self._gc_ms - gc_before
            self.ticks += 1
            if late > self.longest_raw_ms:
                self.longest_raw_ms = late
            held = late - gc_ms - (self._queued_ms() - queued_before)
            if held > self.longest_ms:
                self.longest_ms = held

    def _queued_ms(self) -> float:
        """Total time this thread was ready to run while the kernel ran something else."""
        if self._schedstat < 0:
            return 0.0
        return int(os.pread(self._schedstat, 80, 0).split()[1]) / 1e6

    def _on_gc(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._gc_started = _now_ms()
            return
        pause = _now_ms() - self._gc_started
        self._gc_ms += pause
        self.longest_gc_ms = max(self.longest_gc_ms, pause)


def _now_ms() -> float:
    return time.perf_counter() * 1000
