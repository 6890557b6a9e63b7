"""Opens connections of the driver to the servers of a test."""
from __future__ import annotations

from typing import Any

from geomongo._auth.handshake import Introduction
from geomongo._deployment.connection import Connection, establish

INTRODUCTION = Introduction({"driver": {"name": "test"}}, None, False)
# Never reached unless something hangs, in seconds.
PATIENCE = 30.0


def connect(address: tuple[str, int | None], connect_timeout: float | None = PATIENCE,
            socket_timeout: float | None = None, generation: int = 0, number: int = 1) -> Connection:
    """A connection with its handshake done."""
    return establish(address, INTRODUCTION, generation, number, connect_timeout, socket_timeout)


def ping(connection: Connection) -> Any:
    """One exchange."""
    return connection.command("admin", {"ping": 1})
