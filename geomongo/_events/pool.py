"""Events of connection pools (connection monitoring and pooling specification). Durations are seconds."""
from __future__ import annotations

from typing import Any

from bson.objectid import ObjectId

from geomongo.typings import Address


class ConnectionClosedReason:
    """Values of `ConnectionClosedEvent.reason`."""

    STALE = "stale"
    IDLE = "idle"
    ERROR = "error"
    POOL_CLOSED = "poolClosed"


class ConnectionCheckOutFailedReason:
    """Values of `ConnectionCheckOutFailedEvent.reason`."""

    TIMEOUT = "timeout"
    POOL_CLOSED = "poolClosed"
    CONN_ERROR = "connectionError"


class PoolEvent:
    """What all events of a pool tell: the server's address. Its repr is the constructor's call."""

    __slots__ = ("_address",)

    def __init__(self, address: Address) -> None:
        self._address = address

    @property
    def address(self) -> Address:
        """The host and port of the server."""
        return self._address

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments()))})"


class PoolCreatedEvent(PoolEvent):
    """A pool was made; `options` are those that differ from the defaults."""

    __slots__ = ("_options",)

    def __init__(self, address: Address, options: dict[str, Any]) -> None:
        super().__init__(address)
        self._options = options

    @property
    def options(self) -> dict[str, Any]:
        return self._options

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address, self._options)


class PoolReadyEvent(PoolEvent):
    """A pool may open connections."""

    __slots__ = ()


class PoolClearedEvent(PoolEvent):
    """All connections of a pool so far are stale."""

    __slots__ = ("_service_id", "_interrupt_connections")

    def __init__(self, address: Address, service_id: ObjectId | None = None,
                 interrupt_connections: bool = False) -> None:
        super().__init__(address)
        self._service_id = service_id
        self._interrupt_connections = interrupt_connections

    @property
    def service_id(self) -> ObjectId | None:
        """The service behind a load balancer whose connections were cleared."""
        return self._service_id

    @property
    def interrupt_connections(self) -> bool:
        """Whether operations in flight were ended too."""
        return self._interrupt_connections

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address, self._service_id, self._interrupt_connections)


class PoolClosedEvent(PoolEvent):
    """A pool was closed for good."""

    __slots__ = ()


class ConnectionIdEvent(PoolEvent):
    """An event of one connection, which has a number within its pool."""

    __slots__ = ("_connection_id",)

    def __init__(self, address: Address, connection_id: int) -> None:
        self._address = address
        self._connection_id = connection_id

    @property
    def connection_id(self) -> int:
        return self._connection_id

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address, self._connection_id)


class ConnectionDurationEvent(ConnectionIdEvent):
    """An event of one connection at the end of something that took time."""

    __slots__ = ("_duration",)

    def __init__(self, address: Address, connection_id: int, duration: float | None) -> None:
        self._address = address
        self._connection_id = connection_id
        self._duration = duration

    @property
    def duration(self) -> float | None:
        """In seconds."""
        return self._duration

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address, self._connection_id, self._duration)


class ConnectionCreatedEvent(ConnectionIdEvent):
    """A connection has a place in the pool, and is about to be opened."""

    __slots__ = ()


class ConnectionReadyEvent(ConnectionDurationEvent):
    """A connection is open, its handshake done."""

    __slots__ = ()


class ConnectionClosedEvent(ConnectionIdEvent):
    """A connection was closed."""

    __slots__ = ("_reason",)

    def __init__(self, address: Address, connection_id: int, reason: str) -> None:
        super().__init__(address, connection_id)
        self._reason = reason

    @property
    def reason(self) -> str:
        """One of ConnectionClosedReason."""
        return self._reason

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address, self._connection_id, self._reason)


class ConnectionCheckOutStartedEvent(PoolEvent):
    """An operation asks for a connection."""

    __slots__ = ()


class ConnectionCheckOutFailedEvent(ConnectionDurationEvent):
    """An operation did not get a connection. There is none, so its number is 0."""

    __slots__ = ("_reason",)

    def __init__(self, address: Address, reason: str, duration: float | None) -> None:
        super().__init__(address, 0, duration)
        self._reason = reason

    @property
    def reason(self) -> str:
        """One of ConnectionCheckOutFailedReason."""
        return self._reason

    def _arguments(self) -> tuple[Any, ...]:
        return (self._address, self._reason, self._duration)


class ConnectionCheckedOutEvent(ConnectionDurationEvent):
    """An operation got a connection."""

    __slots__ = ()


class ConnectionCheckedInEvent(ConnectionIdEvent):
    """An operation gave its connection back."""

    __slots__ = ()
