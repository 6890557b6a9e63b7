"""Greenlets: start them, wait for one another, give the hub a turn, leave blocking work to a thread.

A watcher or timer that must not keep the hub alive has ``ref=False``; then ``hub.join()`` returns while a monitor
waits. Kills and timeouts arrive at every wait below, as `BaseException`s, and leave nothing behind.
"""
from __future__ import annotations

import weakref
from collections import deque
from typing import Any, Callable

from gevent import Greenlet, Timeout, getcurrent
from gevent._hub_local import get_hub_if_exists
from gevent.hub import get_hub
from gevent.lock import BoundedSemaphore

from geomongo._net.clock import now

__all__ = ["BoundedSemaphore", "Greenlet", "Handoff", "Pacer", "TimeLimit", "call_soon", "current_hub", "existing_hub",
           "spawn"]

current_hub = get_hub
existing_hub = get_hub_if_exists

#: How long the driver may hold the hub before it gives others a turn, in seconds.
TURN = 0.003
#: A timer this short fires in the hub's next iteration, in seconds.
_NEXT_ITERATION = 1e-6
_LONG_AGO = float("-inf")


def spawn(name: str, function: Callable[..., Any], *args: Any) -> Greenlet:
    """Start `function` in a greenlet that shows `name` in a dump of greenlets."""
    greenlet = Greenlet(function, *args)
    greenlet.name = name
    greenlet.start()
    return greenlet


def call_soon(hub: Any, function: Callable[..., Any], *args: Any) -> None:
    """Have the hub call `function` (which must not wait); safe from finalisers, signal handlers and other threads."""
    loop = hub.loop
    if loop is not None:
        loop.run_callback_threadsafe(function, *args)


class TimeLimit:
    """Ends its block after `seconds` (None: never); the block is then left, and `expired` is True.

    Only its own timer is taken for the limit: a timeout of the application's, or a kill, goes on its way. The timer
    keeps the hub alive unless the work is `background`. For cold paths: it costs 2 us.
    """

    __slots__ = ("_timer", "expired")

    def __init__(self, seconds: float | None, background: bool = False) -> None:
        self._timer = None if seconds is None else Timeout(seconds, ref=not background)
        self.expired = False

    def __enter__(self) -> TimeLimit:
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(self, exc_type: object, error: BaseException | None, traceback: object) -> bool:
        if self._timer is None:
            return False
        self._timer.close()
        self.expired = error is self._timer
        return self.expired


class Handoff:
    """One value for one greenlet that waits for it.

    `give` decides at once and never waits; the greenlet resumes in a later turn of the hub. Where a kill or a
    timeout reaches it first, `given` tells the waiter that it must pass the value on.
    """

    __slots__ = ("_greenlet", "_hub", "given", "value")

    def __init__(self) -> None:
        self._hub = get_hub()
        self._greenlet: Any = None
        self.given = False
        self.value: Any = None

    def give(self, value: Any) -> None:
        """Hand `value` over and schedule the waiter."""
        self.value = value
        self.given = True
        if self._greenlet is not None:
            self._hub.loop.run_callback(self._wake)

    def wait(self, seconds: float | None = None, background: bool = False) -> bool:
        """Wait until something is given; False after `seconds` without.

        The timer keeps the hub alive unless the wait is a `background` one.
        """
        if not self.given and (seconds is None or seconds > 0):
            with TimeLimit(seconds, background):
                self._block()
        return self.given

    def _block(self) -> None:
        while not self.given:
            self._greenlet = getcurrent()
            try:
                self._hub.switch()
            finally:
                self._greenlet = None

    def _wake(self) -> None:
        greenlet = self._greenlet
        if greenlet is not None:
            greenlet.switch()


class _Turns:
    """Who has long work to do on one hub takes turns: one greenlet in each iteration of the hub's loop.

    ``gevent.sleep(0)`` does not do: the hub runs what is ready many times over before it looks at timers again.
    """

    __slots__ = ("_queue", "_running", "_timer")

    def __init__(self) -> None:
        self._queue: deque[Handoff] = deque()
        self._timer = get_hub().loop.timer(_NEXT_ITERATION)
        self._running = False

    def wait(self) -> None:
        """Until it is the caller's turn; at least until the next iteration."""
        waiter = Handoff()
        self._queue.append(waiter)
        self._start()
        try:
            waiter.wait()
        finally:
            if not waiter.given:
                self._queue.remove(waiter)

    def _start(self) -> None:
        if not self._running:
            self._running = True
            self._timer.start(self._next)

    def _next(self) -> None:
        self._running = False
        self._timer.stop()
        if self._queue:
            self._queue.popleft().give(None)
        if self._queue:
            self._start()


_turns: weakref.WeakKeyDictionary[Any, _Turns] = weakref.WeakKeyDictionary()


class Pacer:
    """Lets work that has nothing to wait for give up the hub before others notice.

    Call it between pieces of work: it waits for a turn first, and for another whenever `TURN` seconds have passed. So
    however many greenlets have long work to do, the hub is held for one turn at most.
    """

    __slots__ = ("_since", "_turns")

    def __init__(self) -> None:
        hub = get_hub()
        turns = _turns.get(hub)
        if turns is None:
            turns = _turns[hub] = _Turns()
        self._turns = turns
        self._since = _LONG_AGO

    def restart(self) -> None:
        """The caller comes back from a wait: others have come back with it, and all want a turn."""
        self._since = _LONG_AGO

    def __call__(self) -> None:
        if now() - self._since > TURN:
            self._turns.wait()
            self._since = now()
