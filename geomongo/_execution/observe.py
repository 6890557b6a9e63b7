"""Command events and command log messages: exactly one end for each start, whatever happens between them.

Source: specifications/source/command-logging-and-monitoring/command-logging-and-monitoring.md.
"""
from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, Mapping, Optional, Sequence

from bson.objectid import ObjectId

from geomongo._bson import decode_many
from geomongo._commands.base import Command
from geomongo._execution.flight import Flight
from geomongo._execution.log_text import as_json, shortened
from geomongo._net.clock import now
from geomongo._net.sched import Pacer
from geomongo._wire.raw import ArrayReader
from geomongo.errors import PyMongoError
from geomongo.monitoring import (
    CommandFailedEvent,
    CommandStartedEvent,
    CommandSucceededEvent,
    EventListener,
    group_listeners,
    registered_listeners,
)

_LOGGER = logging.getLogger("geomongo.command")
_SLICE = 64 * 1024


class Observers:
    """Who wants to know of a client's commands."""

    __slots__ = ("_client_id", "_listeners")

    def __init__(self, listeners: Sequence[EventListener]) -> None:
        self._listeners = group_listeners((*registered_listeners(), *listeners)).command
        self._client_id = ObjectId()

    def active(self) -> bool:
        """Whether anybody listens."""
        return self._listeners is not None or _LOGGER.isEnabledFor(logging.DEBUG)

    def start(self, flight: Flight, document: dict[str, Any], request_id: int) -> Observation:
        """Publish that a command goes out; the caller sees to it that its end is published, too."""
        observation = Observation(self, flight, request_id)
        flight.observation = observation
        observation.publish_started(with_sequence(document, flight.command))
        return observation

    def publish(self, method: str, event: Any) -> None:
        """Call every listener; what one of them raises is printed and forgotten, as PyMongo does."""
        for listener in self._listeners or ():
            try:
                getattr(listener, method)(event)
            except Exception:
                traceback.print_exc(file=sys.stderr)

    def log(self, message: str, fields: dict[str, Any]) -> None:
        """One structured message, as JSON."""
        document = {"message": message, "clientId": self._client_id, **fields}
        _LOGGER.debug("%s", as_json(document))


class Observation:
    """One command under way, as observers see it."""

    __slots__ = ("_address", "_command", "_common", "_name", "_observers", "_request_id", "_started")

    def __init__(self, observers: Observers, flight: Flight, request_id: int) -> None:
        connection = flight.connection
        assert connection is not None
        self._observers = observers
        self._command = flight.command
        self._name = flight.command.name
        self._request_id = request_id
        self._address = connection.address
        self._started = now()
        info = connection.info
        self._common = {"service_id": info.service_id, "database_name": flight.command.scope.database,
                        "server_connection_id": info.server_connection_id}

    def publish_started(self, document: Mapping[str, Any]) -> None:
        """The command goes out."""
        event = CommandStartedEvent(document, self._common["database_name"], self._request_id, self._address,
                                    self._request_id, self._common["service_id"],
                                    self._common["server_connection_id"])
        self._observers.publish("started", event)
        self._log("Command started", "command", event.command)

    def succeed(self, reply: Optional[Mapping[str, Any]], batch: Optional[memoryview]) -> None:
        """The command was answered."""
        micros = self._micros()
        whole = {"ok": 1} if reply is None else with_batch(reply, batch, self._command)
        event = CommandSucceededEvent(micros, whole, self._name, self._request_id, self._address, self._request_id,
                                      **self._common)
        self._observers.publish("succeeded", event)
        self._log("Command succeeded", "reply", event.reply, durationMS=micros / 1000)

    def fail(self, error: BaseException) -> None:
        """The command failed, or was abandoned."""
        micros = self._micros()
        event = CommandFailedEvent(micros, failure_document(error), self._name, self._request_id, self._address,
                                   self._request_id, **self._common)
        self._observers.publish("failed", event)
        self._log("Command failed", "failure", event.failure, durationMS=micros / 1000)

    def _micros(self) -> int:
        return int((now() - self._started) * 1_000_000)

    def _log(self, message: str, name: str, document: Mapping[str, Any], **fields: Any) -> None:
        """Log `message` with `document` as the field `name`; it becomes text only where somebody reads it."""
        if not _LOGGER.isEnabledFor(logging.DEBUG):
            return
        fields[name] = shortened(document)
        host, port = self._address
        fields.update(commandName=self._name, databaseName=self._common["database_name"],
                      requestId=self._request_id, operationId=self._request_id, serverHost=host, serverPort=port,
                      serverConnectionId=self._common["server_connection_id"])
        if self._common["service_id"] is not None:
            fields["serviceId"] = self._common["service_id"]
        self._observers.log(message, fields)


def with_sequence(document: dict[str, Any], command: Command) -> dict[str, Any]:
    """The command as one document, statements included."""
    sequence = command.sequence
    if sequence is None:
        return document
    statements = [decode_many(statement, command.scope.codec_options)[0] for statement in sequence.documents]
    return {**document, sequence.identifier: statements}


def with_batch(reply: Mapping[str, Any], batch: Optional[memoryview], command: Command) -> Mapping[str, Any]:
    """The reply as one document, with the part that was cut out of it. A large one gives the hub turns."""
    cut = command.cut
    if batch is None or cut is None:
        return reply
    if len(cut) == 1:
        return {**reply, cut[0]: command.parse(reply, batch)}
    documents: list[Any] = []
    reader, pacer = ArrayReader(batch), Pacer()
    while not reader.exhausted:
        documents += decode_many(reader.take(_SLICE), command.scope.codec_options)
        pacer()
    outer, inner = cut
    return {**reply, outer: {**reply[outer], inner: documents}}


def failure_document(error: BaseException) -> dict[str, Any]:
    """The server's reply where the error has one, else a description."""
    details = getattr(error, "details", None) if isinstance(error, PyMongoError) else None
    if isinstance(details, Mapping) and details:
        return dict(details)
    return {"errmsg": str(error) or type(error).__name__, "errtype": type(error).__name__}
