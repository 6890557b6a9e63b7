"""Everything that a client holds in one process and on one hub: topology, sessions, cluster time, and the reaper.

The reaper is a greenlet that runs only while there is something to do: it sends killCursors for cursors that were
dropped unread. Finalisers leave a note in a queue and wait for nothing.
"""
from __future__ import annotations

import os
import platform
import sys
from collections import deque
from typing import Any, Mapping, NamedTuple, Optional, Protocol

from bson.int64 import Int64

from geomongo._auth.handshake import Introduction
from geomongo._auth.metadata import Host, client_metadata
from geomongo._deployment.connection import Connection, establish
from geomongo._deployment.session_pool import ServerSession, SessionPool
from geomongo._deployment.topology import Topology
from geomongo._net.clock import now
from geomongo._net.sched import Greenlet, TimeLimit, call_soon, current_hub, spawn
from geomongo._sdam.topology_description import TopologyDescription
from geomongo.driver_info import DriverInfo
from geomongo.errors import PyMongoError
from geomongo.typings import Address

#: endSessions takes at most this many lsids at a time.
END_SESSIONS_BATCH = 10_000
#: What closing a client may spend on good manners, in seconds.
_FAREWELL = 2.0


class Releasable(Protocol):
    """What a cursor holds beside its id: a connection that is pinned to it."""

    def release(self) -> None:
        """Give it back."""


class DroppedCursor(NamedTuple):
    """A cursor that nobody will read to its end. `cursor_id` is 0 where the server holds nothing."""

    address: Optional[Address]
    database: str
    collection: str
    cursor_id: int
    session: Optional[ServerSession]
    pin: Optional[Releasable] = None


def this_host() -> Host:
    """The facts of this machine that the handshake tells."""
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    uname = os.uname()
    return Host(uname.sysname, sys.platform, uname.machine, uname.release, interpreter, os.path.exists("/.dockerenv"))


class Deployment:
    """See the module. `wrappers` are the libraries that asked to be named in the handshake."""

    __slots__ = ("_closed", "_dropped", "_introduction", "_options", "_reaper", "_reaping", "cluster_time", "hub",
                 "sessions", "topology", "__weakref__")

    def __init__(self, options: Any, seeds: list[Address], wrappers: tuple[DriverInfo, ...]) -> None:
        self._options = options
        self._closed = False
        self._reaping = False
        self._reaper: Optional[Greenlet] = None
        self._dropped: deque[DroppedCursor] = deque()
        self.hub = current_hub()
        self.cluster_time: Optional[Mapping[str, Any]] = None
        self.sessions = SessionPool()
        self.name_wrappers(wrappers)
        self.topology = Topology(options, seeds, self._connect)
        self.topology.on_change = self._on_change

    def name_wrappers(self, wrappers: tuple[DriverInfo, ...]) -> None:
        """What new connections introduce the client as."""
        api = self._options.server_api
        metadata = client_metadata(this_host(), os.environ, self._options.app_name, wrappers)
        self._introduction = Introduction(metadata, api.command_fields() if api is not None else None,
                                          self._options.load_balanced)

    def _connect(self, address: Address, generation: int, number: int, background: bool) -> Connection:
        options = self._options
        socket_timeout = options.connect_timeout if background else options.socket_timeout
        return establish(address, self._introduction, generation, number, options.connect_timeout, socket_timeout,
                         background)

    def _on_change(self, description: TopologyDescription) -> None:
        self.sessions.set_timeout_minutes(description.logical_session_timeout_minutes)

    def advance_cluster_time(self, seen: Mapping[str, Any]) -> None:
        """Keep the highest $clusterTime seen."""
        known = self.cluster_time
        if known is None or seen["clusterTime"] > known["clusterTime"]:
            self.cluster_time = seen

    def drop_cursor(self, cursor: DroppedCursor) -> None:
        """Have the reaper close `cursor`. Called by finalisers, at any moment, on any thread: it appends, no more."""
        self._dropped.append(cursor)
        if not self._reaping and not self._closed:
            self._reaping = True
            call_soon(self.hub, self._start_reaper)

    def _start_reaper(self) -> None:
        self._reaping = False
        if self._dropped and (self._reaper is None or self._reaper.dead):
            self._reaper = spawn("geomongo cursor reaper", self._reap)

    def _reap(self) -> None:
        while self._dropped and not self._closed:
            cursor = self._dropped.popleft()
            if cursor.pin is not None:
                cursor.pin.release()
            if cursor.cursor_id and cursor.address is not None:
                self._kill_cursor(cursor, cursor.address)
            if cursor.session is not None:
                self.sessions.release(cursor.session, now())

    def _kill_cursor(self, cursor: DroppedCursor, address: Address) -> None:
        """A cursor that cannot be killed now is left to the server's own timeout."""
        server = self.topology.server_at(address)
        if server is None:
            return
        try:
            connection = server.pool.checkout()
            try:
                document: dict[str, Any] = {"killCursors": cursor.collection, "cursors": [Int64(cursor.cursor_id)]}
                if cursor.session is not None:
                    document["lsid"] = cursor.session.lsid
                connection.command(cursor.database, document, check=False)
            finally:
                server.pool.checkin(connection)
        except PyMongoError:
            return

    def close(self) -> None:
        """End the sessions that the server still knows, within a bound, and close everything."""
        if self._closed:
            return
        self._closed = True
        try:
            with TimeLimit(_FAREWELL):
                self._end_sessions()
        finally:
            self.topology.close()

    def _end_sessions(self) -> None:
        lsids = self.sessions.take_all()
        ready = [server for server in self.topology.servers() if server.pool.idle]
        if not lsids or not ready:
            return
        pool = ready[0].pool
        try:
            connection = pool.checkout()
            try:
                for start in range(0, len(lsids), END_SESSIONS_BATCH):
                    connection.command("admin", {"endSessions": lsids[start:start + END_SESSIONS_BATCH]}, check=False)
            finally:
                pool.checkin(connection)
        except PyMongoError:
            return  # the server ends them by itself

    def abandon(self) -> None:
        """The client is gone: close sockets and greenlets, send nothing. Safe from a finaliser."""
        self._closed = True
        call_soon(self.hub, self.topology.close)

    def after_fork(self) -> None:
        """In a child: let go of everything without sending a byte."""
        self._closed = True
        self._dropped.clear()
        self.sessions.take_all()
        self.topology.after_fork()
