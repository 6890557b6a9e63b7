"""A pool of connections to one server.

Who finds no idle connection and no free slot queues up, strictly first in, first out, and is handed a connection or a
slot by whoever gives one back. A slot is the right to open one connection: `size` counts slots, opened or being opened.
Code between two waits is atomic, so the numbers are right at every wait, and a kill at any wait gives back what the
dying greenlet held.
Source: specifications/source/connection-monitoring-and-pooling/connection-monitoring-and-pooling.md.
"""
from __future__ import annotations

from collections import deque
from typing import Callable, Optional

from geomongo._deployment.connection import Connection
from geomongo._net.clock import now
from geomongo._net.fork import LEFT_BEHIND
from geomongo._net.sched import BoundedSemaphore, Handoff
from geomongo.errors import AutoReconnect, InvalidOperation, PyMongoError, WaitQueueTimeoutError

#: What operations on a closed client are told.
CLOSED = "Cannot use MongoClient after close"
#: connect(generation, number) -> Connection
Connect = Callable[[int, int], Connection]
#: on_failure(generation that the connection would have had, error)
OnFailure = Callable[[int, PyMongoError], None]


class Pool:
    """See the module."""

    __slots__ = ("_closed", "_connect", "_connecting", "_idle", "_max_idle", "_members", "_name", "_on_failure",
                 "_opened", "_queue", "_wait_timeout", "generation", "in_use", "max_size", "size")

    def __init__(self, name: str, connect: Connect, max_size: Optional[int], max_connecting: int,
                 wait_timeout: Optional[float], max_idle: Optional[float] = None,
                 on_failure: Optional[OnFailure] = None) -> None:
        self._name = name
        self._connect = connect
        self._connecting = BoundedSemaphore(max_connecting)
        self._idle: deque[Connection] = deque()
        self._members: set[Connection] = set()
        self._queue: deque[Handoff] = deque()
        self._wait_timeout = wait_timeout
        self._max_idle = max_idle
        self._on_failure = on_failure
        self._closed = ""
        self._opened = 0
        self.generation = 0
        self.max_size = max_size
        self.size = 0
        self.in_use = 0

    def checkout(self) -> Connection:
        """A connection that nobody else uses; the caller gives it to `checkin`, whatever happens.

        Raises WaitQueueTimeoutError, AutoReconnect or NetworkTimeout.
        """
        idle = self._idle
        while idle:
            connection = idle.pop()
            if connection.generation == self.generation and connection.usable and (
                    self._max_idle is None or now() - connection.idle_since <= self._max_idle):
                self.in_use += 1
                return connection
            self._discard(connection)
        return self._checkout_slow()

    def _checkout_slow(self) -> Connection:
        self._check_open()
        if self.max_size is None or self.size < self.max_size:
            self.size += 1
            return self._open()
        given = self._wait_for_turn()
        return given if given is not None else self._open()

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidOperation(self._closed)

    def _wait_for_turn(self) -> Optional[Connection]:
        """Queue up; returns a connection, or None for a slot."""
        waiter = Handoff()
        self._queue.append(waiter)
        try:
            if not waiter.wait(self._wait_timeout):
                raise self._wait_queue_timeout()
        except BaseException:
            if waiter.given:
                self._pass_on(waiter.value)
            else:
                self._queue.remove(waiter)
            raise
        given = waiter.value
        if isinstance(given, BaseException):
            raise given
        if given is not None:
            self.in_use += 1
        connection: Optional[Connection] = given
        return connection

    def _pass_on(self, given: object) -> None:
        """What a dying waiter was handed goes to the next one."""
        if isinstance(given, Connection):
            self._put_back(given)
        elif given is None:
            self._free_slot()

    def _wait_queue_timeout(self) -> WaitQueueTimeoutError:
        return WaitQueueTimeoutError(
            f"{self._name}: no connection was free within waitQueueTimeoutMS ({self._wait_timeout} s); "
            f"maxPoolSize {self.max_size}, in use {self.in_use}, waiting {len(self._queue)}; "
            "raise maxPoolSize, or hold connections for a shorter time")

    def _open(self) -> Connection:
        """Fill the slot that the caller holds."""
        generation = -1
        try:
            with self._connecting:
                self._check_open()
                generation = self.generation
                self._opened += 1
                connection = self._connect(generation, self._opened)
        except BaseException as error:
            self._free_slot()
            if self._on_failure is not None and isinstance(error, PyMongoError):
                self._on_failure(generation, error)
            raise
        if self._closed or generation != self.generation:
            # Cleared while it was being opened: perished already.
            connection.close()
            self._free_slot()
            self._check_open()
            raise AutoReconnect(f"{self._name}: the pool was cleared while a connection was being opened")
        self._members.add(connection)
        self.in_use += 1
        return connection

    def checkin(self, connection: Connection) -> None:
        """Take back what `checkout` gave. Never waits."""
        self.in_use -= 1
        self._put_back(connection)

    def _put_back(self, connection: Connection) -> None:
        if not connection.usable or connection.generation != self.generation or self._closed:
            self._discard(connection)
        elif self._queue:
            self._queue.popleft().give(connection)
        else:
            if self._max_idle is not None:
                connection.idle_since = now()
            self._idle.append(connection)

    def _discard(self, connection: Connection) -> None:
        connection.close()
        self._members.discard(connection)
        self._free_slot()

    def _free_slot(self) -> None:
        """Give the right to open a connection to the first waiter, or back."""
        if self._queue and not self._closed:
            self._queue.popleft().give(None)
        else:
            self.size -= 1

    def clear(self) -> None:
        """Connections opened before now are used no more: idle ones go now, others when they come back."""
        self.generation += 1
        idle, self._idle = self._idle, deque()
        for connection in idle:
            self._discard(connection)

    def close(self) -> None:
        """Close every connection, also those in use, and wake everyone who waits with InvalidOperation."""
        self._end(CLOSED)
        self.generation += 1
        idle, self._idle = self._idle, deque()
        for connection in idle:
            self._discard(connection)
        for connection in self._members:
            connection.close()  # its slot is freed when whoever uses it gives it back

    def discard(self) -> None:
        """The hub is gone with its thread: close the sockets, there is nothing left that could wait."""
        self._end(CLOSED)
        for connection in self._members:
            connection.discard()

    def after_fork(self) -> None:
        """In a child: the inherited connections are the parent's, and their streams have let go of them already."""
        self._end(LEFT_BEHIND)

    def _end(self, reason: str) -> None:
        """Nothing is checked out any more, and nobody waits."""
        self._closed = reason
        queue, self._queue = self._queue, deque()
        for waiter in queue:
            waiter.give(InvalidOperation(reason))

    @property
    def idle(self) -> int:
        """Connections that wait to be used."""
        return len(self._idle)

    @property
    def waiters(self) -> int:
        """Greenlets that wait for a connection."""
        return len(self._queue)
