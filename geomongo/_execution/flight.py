"""One operation on its way: what it holds now, so that whoever ends it can give it back."""
from __future__ import annotations

from typing import Any, Optional

from geomongo._commands.base import Command
from geomongo._deployment.connection import Connection, ConnectionInfo
from geomongo._deployment.server import Server
from geomongo._deployment.session_pool import ServerSession
from geomongo._execution.sessions import Session


class Pin:
    """A connection that stays with a cursor (or a transaction) between operations.

    `streaming` says that the server will send another reply on it unasked.
    """

    __slots__ = ("connection", "server", "streaming")

    def __init__(self) -> None:
        self.streaming = False
        self.connection: Optional[Connection] = None
        self.server: Optional[Server] = None

    def hold(self, server: Server, connection: Connection) -> None:
        """Keep what an operation has checked out."""
        self.server = server
        self.connection = connection

    def release(self) -> None:
        """Give the connection back; one in the middle of a reply is closed by the pool. Never waits."""
        connection, self.connection = self.connection, None
        if connection is not None and self.server is not None:
            self.server.pool.checkin(connection)


class Flight:
    """A command, whose session it runs in, and what it has borrowed.

    `lease` is a server session borrowed for this operation alone; `transaction` numbers a retryable write; `info`
    is the server's that was reached last.
    """

    __slots__ = ("command", "connection", "info", "lease", "observation", "pin", "server", "session",
                 "transaction")

    def __init__(self, command: Command, session: Optional[Session], pin: Optional[Pin]) -> None:
        self.command = command
        self.session = session
        self.pin = pin
        self.lease: Optional[ServerSession] = None
        self.transaction: Any = None
        self.observation: Any = None
        self.info: Optional[ConnectionInfo] = None
        self.server: Optional[Server] = None
        self.connection: Optional[Connection] = None
