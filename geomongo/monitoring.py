"""Listeners and the events that they get: commands, connection pools, servers, topologies, heartbeats.

The classes are PyMongo's, so listeners written for it work unchanged. Listeners may switch greenlets; the
driver calls them only between its own steps, and what they raise never reaches the application.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from geomongo._events.command import (
    CommandFailedEvent,
    CommandStartedEvent,
    CommandSucceededEvent,
)
from geomongo._events.pool import (
    ConnectionCheckedInEvent,
    ConnectionCheckedOutEvent,
    ConnectionCheckOutFailedEvent,
    ConnectionCheckOutFailedReason,
    ConnectionCheckOutStartedEvent,
    ConnectionClosedEvent,
    ConnectionClosedReason,
    ConnectionCreatedEvent,
    ConnectionReadyEvent,
    PoolClearedEvent,
    PoolClosedEvent,
    PoolCreatedEvent,
    PoolReadyEvent,
)
from geomongo._events.redaction import (
    redacted,
    redacted_failure,
)
from geomongo._events.topology import (
    ServerClosedEvent,
    ServerDescriptionChangedEvent,
    ServerHeartbeatFailedEvent,
    ServerHeartbeatStartedEvent,
    ServerHeartbeatSucceededEvent,
    ServerOpeningEvent,
    TopologyClosedEvent,
    TopologyDescriptionChangedEvent,
    TopologyEvent,
    TopologyOpenedEvent,
)

__all__ = [
    "CommandFailedEvent",
    "CommandListener",
    "CommandStartedEvent",
    "CommandSucceededEvent",
    "ConnectionCheckOutFailedEvent",
    "ConnectionCheckOutFailedReason",
    "ConnectionCheckOutStartedEvent",
    "ConnectionCheckedInEvent",
    "ConnectionCheckedOutEvent",
    "ConnectionClosedEvent",
    "ConnectionClosedReason",
    "ConnectionCreatedEvent",
    "ConnectionPoolListener",
    "ConnectionReadyEvent",
    "EventListener",
    "ListenerGroups",
    "PoolClearedEvent",
    "PoolClosedEvent",
    "PoolCreatedEvent",
    "PoolReadyEvent",
    "ServerClosedEvent",
    "ServerDescriptionChangedEvent",
    "ServerHeartbeatFailedEvent",
    "ServerHeartbeatListener",
    "ServerHeartbeatStartedEvent",
    "ServerHeartbeatSucceededEvent",
    "ServerListener",
    "ServerOpeningEvent",
    "TopologyClosedEvent",
    "TopologyDescriptionChangedEvent",
    "TopologyEvent",
    "TopologyListener",
    "TopologyOpenedEvent",
    "group_listeners",
    "redacted",
    "redacted_failure",
    "register",
    "registered_listeners",
    "validate_event_listeners",
]


class EventListener:
    """The base of all listeners."""


class CommandListener(EventListener):
    """Gets the events of commands."""

    def started(self, event: CommandStartedEvent) -> None:
        raise NotImplementedError

    def succeeded(self, event: CommandSucceededEvent) -> None:
        raise NotImplementedError

    def failed(self, event: CommandFailedEvent) -> None:
        raise NotImplementedError


class ConnectionPoolListener(EventListener):
    """Gets the events of connection pools."""

    def pool_created(self, event: PoolCreatedEvent) -> None:
        raise NotImplementedError

    def pool_ready(self, event: PoolReadyEvent) -> None:
        raise NotImplementedError

    def pool_cleared(self, event: PoolClearedEvent) -> None:
        raise NotImplementedError

    def pool_closed(self, event: PoolClosedEvent) -> None:
        raise NotImplementedError

    def connection_created(self, event: ConnectionCreatedEvent) -> None:
        raise NotImplementedError

    def connection_ready(self, event: ConnectionReadyEvent) -> None:
        raise NotImplementedError

    def connection_closed(self, event: ConnectionClosedEvent) -> None:
        raise NotImplementedError

    def connection_check_out_started(self, event: ConnectionCheckOutStartedEvent) -> None:
        raise NotImplementedError

    def connection_check_out_failed(self, event: ConnectionCheckOutFailedEvent) -> None:
        raise NotImplementedError

    def connection_checked_out(self, event: ConnectionCheckedOutEvent) -> None:
        raise NotImplementedError

    def connection_checked_in(self, event: ConnectionCheckedInEvent) -> None:
        raise NotImplementedError


class ServerHeartbeatListener(EventListener):
    """Gets the events of heartbeats."""

    def started(self, event: ServerHeartbeatStartedEvent) -> None:
        raise NotImplementedError

    def succeeded(self, event: ServerHeartbeatSucceededEvent) -> None:
        raise NotImplementedError

    def failed(self, event: ServerHeartbeatFailedEvent) -> None:
        raise NotImplementedError


class TopologyListener(EventListener):
    """Gets the events of topologies."""

    def opened(self, event: TopologyOpenedEvent) -> None:
        raise NotImplementedError

    def description_changed(self, event: TopologyDescriptionChangedEvent) -> None:
        raise NotImplementedError

    def closed(self, event: TopologyClosedEvent) -> None:
        raise NotImplementedError


class ServerListener(EventListener):
    """Gets the events of servers."""

    def opened(self, event: ServerOpeningEvent) -> None:
        raise NotImplementedError

    def description_changed(self, event: ServerDescriptionChangedEvent) -> None:
        raise NotImplementedError

    def closed(self, event: ServerClosedEvent) -> None:
        raise NotImplementedError


class ListenerGroups(NamedTuple):
    """Listeners by kind; None where nobody listens, so that asking costs one comparison."""

    command: tuple[CommandListener, ...] | None
    pool: tuple[ConnectionPoolListener, ...] | None
    server: tuple[ServerListener, ...] | None
    heartbeat: tuple[ServerHeartbeatListener, ...] | None
    topology: tuple[TopologyListener, ...] | None


_KINDS = (CommandListener, ConnectionPoolListener, ServerListener, ServerHeartbeatListener, TopologyListener)
_registered: list[EventListener] = []


def group_listeners(listeners: Iterable[EventListener]) -> ListenerGroups:
    """Sort listeners by kind, in their order; one of several kinds is in several groups."""
    every = tuple(listeners)
    groups: list[Any] = [tuple(one for one in every if isinstance(one, kind)) or None for kind in _KINDS]
    return ListenerGroups(*groups)


def _check_listener(option: object, listener: object) -> None:
    if not isinstance(listener, _KINDS):
        kinds = ", ".join(kind.__name__ for kind in _KINDS)
        raise TypeError(f"Listeners for {option} must be instances of one of {kinds}, not {type(listener)}")


def validate_event_listeners(option: str, listeners: Any) -> Sequence[EventListener]:
    """The listeners, if they are a sequence of listeners; else TypeError."""
    if not isinstance(listeners, Sequence):
        raise TypeError(f"{option} must be a list or tuple, not {type(listeners)}")
    for listener in listeners:
        _check_listener(option, listener)
    return listeners


def register(listener: EventListener) -> None:
    """Have a listener called for every client made from now on. Raises TypeError for other objects.

    Listeners of one client are given as `MongoClient(event_listeners=[...])`.
    """
    _check_listener(listener, listener)
    _registered.append(listener)


def registered_listeners() -> tuple[EventListener, ...]:
    """The listeners that `register` was given, in its order."""
    return tuple(_registered)
