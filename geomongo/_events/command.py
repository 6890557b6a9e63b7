"""Events of commands. They are made on the hot path, so each constructor sets its slots and does no more."""
from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bson.objectid import ObjectId

from geomongo._events.redaction import redacted, redacted_failure
from geomongo.typings import Address

_MICROSECOND = timedelta(microseconds=1)


def _microseconds(duration: timedelta | int) -> int:
    return duration if isinstance(duration, int) else duration // _MICROSECOND


class CommandEvent:
    """What all events of a command tell."""

    __slots__ = ("_command_name", "_request_id", "_connection_id", "_operation_id", "_service_id",
                 "_database_name", "_server_connection_id")

    _command_name: str
    _request_id: int
    _connection_id: Address
    _operation_id: int | None
    _service_id: ObjectId | None
    _database_name: str
    _server_connection_id: int | None

    @property
    def command_name(self) -> str:
        return self._command_name

    @property
    def request_id(self) -> int:
        """The request id of the message: the same in a command's events."""
        return self._request_id

    @property
    def connection_id(self) -> Address:
        """The server's address."""
        return self._connection_id

    @property
    def operation_id(self) -> int | None:
        """The same for all commands of one operation (a bulk write, a retry)."""
        return self._operation_id

    @property
    def service_id(self) -> ObjectId | None:
        """The service behind a load balancer."""
        return self._service_id

    @property
    def database_name(self) -> str:
        return self._database_name

    @property
    def server_connection_id(self) -> int | None:
        """The server's own number of this connection."""
        return self._server_connection_id

    def _described(self, *more: str) -> str:
        parts = (f"db: {self._database_name!r}", f"command: {self._command_name!r}",
                 f"operation_id: {self._operation_id}", *more, f"service_id: {self._service_id}",
                 f"server_connection_id: {self._server_connection_id}")
        return f"<{type(self).__name__} {self._connection_id} {', '.join(parts)}>"


class CommandStartedEvent(CommandEvent):
    """A command is about to be sent. `command` is empty if it is sensitive."""

    __slots__ = ("_command",)

    def __init__(self, command: Mapping[str, Any], database_name: str, request_id: int,
                 connection_id: Address, operation_id: int | None, service_id: ObjectId | None = None,
                 server_connection_id: int | None = None) -> None:
        if not command:
            raise ValueError(f"{command!r} is not a valid command")
        self._command_name = next(iter(command))
        self._command = redacted(self._command_name, command)
        self._database_name = database_name
        self._request_id = request_id
        self._connection_id = connection_id
        self._operation_id = operation_id
        self._service_id = service_id
        self._server_connection_id = server_connection_id

    @property
    def command(self) -> Mapping[str, Any]:
        return self._command

    def __repr__(self) -> str:
        return self._described()


class CommandSucceededEvent(CommandEvent):
    """A command was answered. `duration` is a timedelta, or an int of microseconds."""

    __slots__ = ("_duration_micros", "_reply")

    def __init__(self, duration: timedelta | int, reply: Mapping[str, Any], command_name: str,
                 request_id: int, connection_id: Address, operation_id: int | None,
                 service_id: ObjectId | None = None, database_name: str = "",
                 server_connection_id: int | None = None) -> None:
        self._duration_micros = _microseconds(duration)
        self._reply = redacted(command_name, reply)
        self._command_name = command_name
        self._request_id = request_id
        self._connection_id = connection_id
        self._operation_id = operation_id
        self._service_id = service_id
        self._database_name = database_name
        self._server_connection_id = server_connection_id

    @property
    def duration_micros(self) -> int:
        """How long it took, in microseconds."""
        return self._duration_micros

    @property
    def reply(self) -> Mapping[str, Any]:
        return self._reply

    def __repr__(self) -> str:
        return self._described(f"duration_micros: {self._duration_micros}")


class CommandFailedEvent(CommandEvent):
    """A command failed, at the server or on the way. `duration` is as for CommandSucceededEvent."""

    __slots__ = ("_duration_micros", "_failure")

    def __init__(self, duration: timedelta | int, failure: Mapping[str, Any], command_name: str,
                 request_id: int, connection_id: Address, operation_id: int | None,
                 service_id: ObjectId | None = None, database_name: str = "",
                 server_connection_id: int | None = None) -> None:
        self._duration_micros = _microseconds(duration)
        self._failure = redacted_failure(command_name, failure)
        self._command_name = command_name
        self._request_id = request_id
        self._connection_id = connection_id
        self._operation_id = operation_id
        self._service_id = service_id
        self._database_name = database_name
        self._server_connection_id = server_connection_id

    @property
    def duration_micros(self) -> int:
        """How long it took, in microseconds."""
        return self._duration_micros

    @property
    def failure(self) -> Mapping[str, Any]:
        """The server's reply, or a document that describes what failed."""
        return self._failure

    def __repr__(self) -> str:
        return self._described(f"duration_micros: {self._duration_micros}", f"failure: {self._failure!r}")
