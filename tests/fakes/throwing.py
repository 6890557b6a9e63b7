"""Throws an exception into an operation at its n-th wait, for every n, so that no kill depends on luck.

A wait is a switch from the operation's greenlet to the hub, counted by greenlet's own tracing.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gevent
import greenlet

# Never reached unless something hangs, in seconds.
PATIENCE = 30.0


class Victim:
    """Runs `operation` in a greenlet and throws `errors` one after the other, the first at its wait number `nth`.

    `turns` delays each throw by as many turns of the hub's callbacks, so that it arrives before, with or after what the
    operation waits for. What came out is in `value` or `error`; `waits` counts the waits.
    """

    def __init__(self, operation: Callable[[], Any], nth: int, errors: list[BaseException], turns: int = 0) -> None:
        self._operation = operation
        self._nth = nth
        self._errors = list(errors)
        self._turns = turns
        self._hub = gevent.get_hub()
        self.waits = 0
        self.thrown: list[BaseException] = []
        self.value: Any = None
        self.error: BaseException | None = None
        self.greenlet = gevent.Greenlet(self._body)

    def run(self) -> Victim:
        """Run it to its end. Fails where it does not end."""
        self.start()
        return self.finish()

    def start(self) -> None:
        """Schedule it; tracing begins."""
        self._previous = greenlet.settrace(self._trace)
        self.greenlet.start()

    def finish(self) -> Victim:
        """Wait for its end."""
        try:
            self.greenlet.join(timeout=PATIENCE)
        finally:
            greenlet.settrace(self._previous)
        assert self.greenlet.dead, f"wait {self._nth}: the operation hangs"
        return self

    def _body(self) -> None:
        try:
            self.value = self._operation()
        except BaseException as error:
            self.error = error

    def _trace(self, event: str, switch: tuple[Any, Any]) -> None:
        if switch == (self.greenlet, self._hub):
            self.waits += 1
            if self.waits >= self._nth and self._errors:
                self._schedule(self._errors.pop(0), self._turns)

    def _schedule(self, error: BaseException, turns: int) -> None:
        if turns:
            self._hub.loop.run_callback(self._schedule, error, turns - 1)
        else:
            self._hub.loop.run_callback(self._throw, error)

    def _throw(self, error: BaseException) -> None:
        if not self.greenlet.dead:
            self.thrown.append(error)
            self.greenlet.throw(error)

    def check(self) -> None:
        """What was thrown last, that very object, is what came out; without a throw there was no error."""
        if self.thrown:
            assert self.error is self.thrown[-1], (self.error, self.thrown)
        else:
            assert self.error is None, self.error


def at_every_wait(make: Callable[[int], Victim]) -> Iterator[Victim]:
    """The victims of n = 1, 2, 3... until one is through before anything was thrown at it."""
    for nth in range(1, 500):
        victim = make(nth)
        yield victim
        if not victim.thrown:
            return
    raise AssertionError("the operation waits without end")
