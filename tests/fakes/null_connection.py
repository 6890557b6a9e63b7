"""A connection without a socket, for the rules of a pool that need none."""
from __future__ import annotations

from geomongo._deployment.connection import Connection


class NullStream:
    """Has the state of a stream and does nothing."""

    background = False
    name = "null:1"

    def __init__(self) -> None:
        self.busy = False
        self.closed = False

    def close(self) -> None:
        """Remember it."""
        self.closed = True


class NullConnection(Connection):
    """Its `stream` shows what was done to it."""

    def __init__(self, generation: int = 0, number: int = 1) -> None:
        self.stream = NullStream()
        super().__init__(self.stream, ("null", 1), {"ok": 1}, generation, number, None)
