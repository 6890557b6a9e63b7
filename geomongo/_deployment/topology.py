"""The servers of one deployment: learns of changes, selects a server, wakes who waits for one.

A change of the description is one atomic step: new snapshot, servers opened and closed, waiters woken. `select` is a
dict hit as long as nothing changes.
Source: specifications/source/server-selection/server-selection.md.
"""
from __future__ import annotations

import random
from collections import deque
from functools import partial
from typing import Any, Callable, Optional

from geomongo import error_rules
from geomongo._deployment.connection import Connection
from geomongo._deployment.monitor import Monitor
from geomongo._deployment.pool import CLOSED, Pool
from geomongo._deployment.server import Server
from geomongo._net.clock import now
from geomongo._net.dial import name_of
from geomongo._net.fork import LEFT_BEHIND
from geomongo._net.sched import Handoff
from geomongo._sdam import selection, transition
from geomongo._sdam.server_description import ServerDescription, error_topology_version
from geomongo._sdam.topology_description import TopologyDescription
from geomongo.errors import InvalidOperation, NetworkTimeout, PyMongoError, ServerSelectionTimeoutError
from geomongo.server_type import TOPOLOGY_TYPE
from geomongo.typings import Address

#: Read preferences that are remembered between two changes; applications use a handful.
_REMEMBERED = 64

#: connect(address, generation, number, background) -> Connection
Connect = Callable[[Address, int, int, bool], Connection]


class Topology:
    """See the module. `options` are the client's options."""

    __slots__ = ("_closed", "_connect", "_options", "_servers", "_suitable", "_waiters", "description",
                 "on_change")

    def __init__(self, options: Any, seeds: list[Address], connect: Connect) -> None:
        self._options = options
        self._connect = connect
        self._servers: dict[Address, Server] = {}
        self._suitable: dict[int, tuple[Any, list[Server]]] = {}
        self._waiters: deque[Handoff] = deque()
        self._closed = ""
        self.on_change: Optional[Callable[[TopologyDescription], None]] = None
        self.description = transition.initial(seeds, options.replica_set, options.direct_connection,
                                              options.load_balanced, options.heartbeat_frequency)
        self._open_servers()

    def select(self, preference: Any) -> Server:
        """A server for a read with `preference`, or for a write where that is None.

        Raises ServerSelectionTimeoutError after serverSelectionTimeoutMS.
        """
        found = self._suitable.get(id(preference))
        servers = found[1] if found is not None else self._find(preference)
        if len(servers) == 1:
            return servers[0]
        if servers:
            return _less_busy(servers)
        return self._select_slow(lambda: self._find(preference), preference)

    def select_address(self, address: Address) -> Server:
        """The server at `address`, which a cursor was opened on."""
        server = self._servers.get(address)
        if server is not None and server.description.is_server_type_known:
            return server
        return self._select_slow(partial(self._known_at, address), address)

    def server_at(self, address: Address) -> Optional[Server]:
        """The server at `address`, if it answers; does not wait."""
        return next(iter(self._known_at(address)), None)

    def _known_at(self, address: Address) -> list[Server]:
        server = self._servers.get(address)
        return [server] if server is not None and server.description.is_server_type_known else []

    def _find(self, preference: Any) -> list[Server]:
        self.description.check_compatible()
        suitable = selection.suitable(self.description, preference, self._options.local_threshold)
        servers = [self._servers[description.address] for description in suitable]
        if servers:
            if len(self._suitable) >= _REMEMBERED:
                self._suitable.clear()
            # The preference is kept with its entry, so that its id stays its own.
            self._suitable[id(preference)] = (preference, servers)
        return servers

    def _select_slow(self, find: Callable[[], list[Server]], wanted: Any) -> Server:
        deadline = now() + self._options.server_selection_timeout
        while True:
            if self._closed:
                raise InvalidOperation(self._closed)
            servers = find()
            if servers:
                return _less_busy(servers)
            self._request_checks()
            if not self._wait_for_change(deadline - now()):
                raise ServerSelectionTimeoutError(self._selection_message(wanted))

    def _wait_for_change(self, seconds: float) -> bool:
        waiter = Handoff()
        self._waiters.append(waiter)
        try:
            return waiter.wait(seconds)
        finally:
            if not waiter.given:
                self._waiters.remove(waiter)

    def _selection_message(self, wanted: Any) -> str:
        errors = {f"{name_of(*server.address)}: {server.error}" if name_of(*server.address) not in str(server.error)
                  else str(server.error)
                  for server in self.description.server_descriptions().values() if server.error is not None}
        if errors:
            reason = ", ".join(sorted(errors))
        elif wanted is None:
            reason = "No server is writable: no primary or mongos available for writes"
        else:
            reason = f"No server matches {wanted!r}"
        return (f"{reason}, Timeout: {self._options.server_selection_timeout:g}s (serverSelectionTimeoutMS), "
                f"Topology Description: {self.description!r}")

    def _request_checks(self) -> None:
        for server in self._servers.values():
            if server.monitor is not None:
                server.monitor.request_check()

    def learn(self, new: ServerDescription) -> None:
        """A server has answered, or failed to: the one way in which the description changes."""
        server = self._servers.get(new.address)
        if self._closed or server is None or transition.is_stale(server.description, new):
            return
        if new.error is not None and not error_rules.is_state_change(new.error):
            server.pool.clear()
        self._change(transition.apply(self.description, new))

    def _change(self, description: TopologyDescription) -> None:
        self.description = description
        self._close_servers()
        self._open_servers()
        self._suitable.clear()
        self._wake_waiters()
        if self.on_change is not None:
            self.on_change(self.description)

    def _connecting_failed(self, address: Address, generation: int, error: PyMongoError) -> None:
        self.on_error(address, generation, error, established=False)

    def on_error(self, address: Address, generation: int, error: Exception, established: bool) -> None:
        """An operation on a connection of `generation` failed.

        Source: server-discovery-and-monitoring.md, "Application operations: error handling".
        """
        server = self._servers.get(address)
        if server is None or generation != server.pool.generation:
            return
        if self.description.topology_type == TOPOLOGY_TYPE.LoadBalanced:
            return
        if error_rules.is_network_error(error):
            if established and isinstance(error, NetworkTimeout):
                return
            self.learn(server.description.to_unknown(error))
        elif error_rules.is_state_change(error):
            self._on_state_change(server, error)

    def _on_state_change(self, server: Server, error: Exception) -> None:
        if transition.is_known_version(server.description.topology_version, error_topology_version(error)):
            return
        if error_rules.is_shutdown(error):
            server.pool.clear()
        self.learn(server.description.to_unknown(error))
        if server.monitor is not None:
            server.monitor.request_check()

    def _open_servers(self) -> None:
        for address, description in self.description.server_descriptions().items():
            server = self._servers.get(address)
            if server is None:
                server = self._servers[address] = self._new_server(address, description)
                if server.monitor is not None:
                    server.monitor.start()
            server.description = description

    def _new_server(self, address: Address, description: ServerDescription) -> Server:
        options = self._options
        pool = Pool(name_of(*address), partial(self._connect_pooled, address), options.max_pool_size,
                    options.max_connecting, options.wait_queue_timeout, options.max_idle_time,
                    partial(self._connecting_failed, address))
        server = Server(address, description, pool)
        if self.description.topology_type != TOPOLOGY_TYPE.LoadBalanced:
            server.monitor = Monitor(address, lambda: self._connect(address, 0, 0, True), self.learn,
                                     options.heartbeat_frequency)
        return server

    def _connect_pooled(self, address: Address, generation: int, number: int) -> Connection:
        return self._connect(address, generation, number, False)

    def _close_servers(self) -> None:
        for address in [address for address in self._servers if not self.description.has_server(address)]:
            self._servers.pop(address).close()

    def servers(self) -> list[Server]:
        """Every server."""
        return list(self._servers.values())

    def close(self) -> None:
        """Close everything and wake everyone who waits with InvalidOperation. Never waits."""
        self._closed = CLOSED
        self._suitable.clear()
        self._wake_waiters()
        for server in self._servers.values():
            server.close()

    def discard(self) -> None:
        """The hub is gone with its thread: close the sockets."""
        self._closed = CLOSED
        for server in self._servers.values():
            server.discard()

    def after_fork(self) -> None:
        """In a child: let go of everything without sending a byte."""
        self._closed = LEFT_BEHIND
        self._suitable.clear()
        self._wake_waiters()
        for server in self._servers.values():
            server.after_fork()

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, deque()
        for waiter in waiters:
            waiter.give(None)


def _less_busy(servers: list[Server]) -> Server:
    """Of two servers picked at random, the one with fewer operations under way."""
    if len(servers) == 1:
        return servers[0]
    one, other = random.sample(servers, 2)
    return one if one.pool.in_use <= other.pool.in_use else other
