"""A greenlet that watches one server with hellos on a connection of its own.

It starts with its server, wakes only for heartbeats and requests, and does not keep the hub alive.
Source: specifications/source/server-discovery-and-monitoring/server-monitoring.md.
"""
from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from geomongo._deployment.connection import Connection
from geomongo._net.clock import now
from geomongo._net.sched import Greenlet, Handoff, spawn
from geomongo._sdam.rtt import RoundTripTime
from geomongo._sdam.server_description import ServerDescription
from geomongo.errors import PyMongoError
from geomongo.typings import Address

#: Least time between two checks, in seconds.
MIN_HEARTBEAT = 0.5


class Monitor:
    """Checks `address` every `heartbeat_frequency` seconds and reports each description."""

    __slots__ = ("_address", "_checked_at", "_closed", "_connect", "_connection", "_greenlet", "_heartbeat", "_known",
                 "_report", "_requested", "_rtt", "_sleeper")

    def __init__(self, address: Address, connect: Callable[[], Connection],
                 report: Callable[[ServerDescription], None], heartbeat_frequency: float) -> None:
        self._address = address
        self._connect = connect
        self._report = report
        self._heartbeat = heartbeat_frequency
        self._connection: Optional[Connection] = None
        self._greenlet: Optional[Greenlet] = None
        self._rtt = RoundTripTime()
        self._sleeper: Optional[Handoff] = None
        self._requested = False
        self._closed = False
        self._known = False
        self._checked_at = 0.0

    def start(self) -> None:
        """Begin to watch; again, where something has killed the greenlet."""
        if not self._closed and (self._greenlet is None or self._greenlet.dead):
            self._greenlet = spawn(f"geomongo monitor {self._address[0]}:{self._address[1]}", self._run)
            self._greenlet.link(self._ended)

    def _ended(self, _: Greenlet) -> None:
        """Something has killed the greenlet, or the monitor is closed."""
        self.start()

    def request_check(self) -> None:
        """Somebody needs to know now: check as soon as the least time between checks allows."""
        self._requested = True
        self.start()
        if self._sleeper is not None and not self._sleeper.given:
            self._sleeper.give(None)

    def close(self) -> None:
        """Stop watching. Never waits."""
        self._closed = True
        if self._greenlet is not None:
            self._greenlet.kill(block=False)
        self._drop_connection()

    def discard(self) -> None:
        """The hub is gone with its thread: close the socket."""
        self._closed = True
        if self._connection is not None:
            self._connection.discard()

    def after_fork(self) -> None:
        """In a child: the greenlet is the parent's, and so is its connection."""
        self.close()

    def _run(self) -> None:
        try:
            while not self._closed:
                self._rest()
                self._requested = False
                self._report(self._check())
                self._sleep()
        finally:
            self._drop_connection()

    def _sleep(self) -> None:
        """Until the next heartbeat, or until a request and the least time between checks."""
        if not self._requested:
            self._wait(self._heartbeat)

    def _rest(self) -> None:
        """Least time between two checks, also where a monitor had to be started again."""
        left = self._checked_at + MIN_HEARTBEAT - now()
        while left > 0:
            self._wait(left)
            left = self._checked_at + MIN_HEARTBEAT - now()

    def _wait(self, seconds: float) -> None:
        self._sleeper = Handoff()
        try:
            self._sleeper.wait(seconds, background=True)
        finally:
            self._sleeper = None

    def _check(self) -> ServerDescription:
        """One check; a server that was known gets a second one at once after a network error."""
        description = self._check_once()
        if description.error is not None and self._known:
            description = self._check_once()
        self._known = description.error is None
        return description

    def _check_once(self) -> ServerDescription:
        try:
            started = now()
            hello = self._hello()
        except PyMongoError as error:
            self._drop_connection()
            self._rtt.reset()
            return ServerDescription(self._address, error=error)
        finally:
            self._checked_at = now()
        self._rtt.add(self._checked_at - started)
        return ServerDescription(self._address, hello, self._rtt.average, min_round_trip_time=self._rtt.minimum,
                                 last_update_time=self._checked_at)

    def _hello(self) -> Mapping[str, Any]:
        connection = self._connection
        if connection is None:
            self._connection = connection = self._connect()
            return connection.hello
        return connection.ask_hello()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
