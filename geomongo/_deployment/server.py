"""One server of the deployment: its description, its pool and its monitor."""
from __future__ import annotations

from typing import NamedTuple, Optional

from geomongo._deployment.monitor import Monitor
from geomongo._deployment.pool import Pool
from geomongo._sdam.server_description import ServerDescription
from geomongo.typings import Address


class PoolStats(NamedTuple):
    """A pool's figures at one moment."""

    address: Address
    size: int
    idle: int
    in_use: int
    waiters: int
    max_size: Optional[int]
    generation: int


class Server:
    """Holds together what belongs to one address."""

    __slots__ = ("address", "description", "monitor", "pool")

    def __init__(self, address: Address, description: ServerDescription, pool: Pool) -> None:
        self.address = address
        self.description = description
        self.pool = pool
        self.monitor: Optional[Monitor] = None

    def stats(self) -> PoolStats:
        """The pool's figures now."""
        pool = self.pool
        return PoolStats(self.address, pool.size, pool.idle, pool.in_use, pool.waiters, pool.max_size, pool.generation)

    def close(self) -> None:
        """Close monitor and pool. Never waits."""
        if self.monitor is not None:
            self.monitor.close()
        self.pool.close()

    def discard(self) -> None:
        """The hub is gone with its thread: close the sockets."""
        if self.monitor is not None:
            self.monitor.discard()
        self.pool.discard()

    def after_fork(self) -> None:
        """In a child: let go of everything without sending a byte."""
        if self.monitor is not None:
            self.monitor.after_fork()
        self.pool.after_fork()
