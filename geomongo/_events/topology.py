"""Events of servers, topologies and heartbeats (server discovery and monitoring logging and monitoring)."""
from __future__ import annotations

from typing import Any

from bson.objectid import ObjectId

from geomongo.typings import Address


class ServerEvent:
    """What all events of a server tell."""

    __slots__ = ("_server_address", "_topology_id")

    def __init__(self, server_address: Address, topology_id: ObjectId) -> None:
        self._server_address = server_address
        self._topology_id = topology_id

    @property
    def server_address(self) -> Address:
        return self._server_address

    @property
    def topology_id(self) -> ObjectId:
        return self._topology_id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._server_address} topology_id: {self._topology_id}>"


class ServerDescriptionChangedEvent(ServerEvent):
    """What is known about a server has changed."""

    __slots__ = ("_previous_description", "_new_description")

    def __init__(self, previous_description: Any, new_description: Any, server_address: Address,
                 topology_id: ObjectId) -> None:
        super().__init__(server_address, topology_id)
        self._previous_description = previous_description
        self._new_description = new_description

    @property
    def previous_description(self) -> Any:
        return self._previous_description

    @property
    def new_description(self) -> Any:
        return self._new_description

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} {self._server_address} changed from: {self._previous_description}, "
                f"to: {self._new_description}>")


class ServerOpeningEvent(ServerEvent):
    """A server is now monitored."""

    __slots__ = ()


class ServerClosedEvent(ServerEvent):
    """A server is no longer monitored."""

    __slots__ = ()


class TopologyEvent:
    """What all events of a topology tell."""

    __slots__ = ("_topology_id",)

    def __init__(self, topology_id: ObjectId) -> None:
        self._topology_id = topology_id

    @property
    def topology_id(self) -> ObjectId:
        return self._topology_id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} topology_id: {self._topology_id}>"


class TopologyDescriptionChangedEvent(TopologyEvent):
    """What is known about the deployment has changed."""

    __slots__ = ("_previous_description", "_new_description")

    def __init__(self, previous_description: Any, new_description: Any, topology_id: ObjectId) -> None:
        super().__init__(topology_id)
        self._previous_description = previous_description
        self._new_description = new_description

    @property
    def previous_description(self) -> Any:
        return self._previous_description

    @property
    def new_description(self) -> Any:
        return self._new_description

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} topology_id: {self._topology_id} "
                f"changed from: {self._previous_description}, to: {self._new_description}>")


class TopologyOpenedEvent(TopologyEvent):
    """A deployment is now monitored."""

    __slots__ = ()


class TopologyClosedEvent(TopologyEvent):
    """A deployment is no longer monitored."""

    __slots__ = ()


class ServerHeartbeatEvent:
    """What all events of a heartbeat tell."""

    __slots__ = ("_connection_id", "_awaited")

    def __init__(self, connection_id: Address, awaited: bool = False) -> None:
        self._connection_id = connection_id
        self._awaited = awaited

    @property
    def connection_id(self) -> Address:
        """The server's address."""
        return self._connection_id

    @property
    def awaited(self) -> bool:
        """Whether the server answers only when something changes (streaming protocol)."""
        return self._awaited

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._connection_id} awaited: {self._awaited}>"


class ServerHeartbeatStartedEvent(ServerHeartbeatEvent):
    """A heartbeat is about to be sent."""

    __slots__ = ()


class _HeartbeatEnd(ServerHeartbeatEvent):
    __slots__ = ("_duration", "_reply")

    def __init__(self, duration: float, reply: Any, connection_id: Address, awaited: bool = False) -> None:
        super().__init__(connection_id, awaited)
        self._duration = duration
        self._reply = reply

    @property
    def duration(self) -> float:
        """In seconds."""
        return self._duration

    @property
    def reply(self) -> Any:
        """The server's answer, or the exception."""
        return self._reply

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} {self._connection_id} duration: {self._duration}, "
                f"awaited: {self._awaited}, reply: {self._reply!r}>")


class ServerHeartbeatSucceededEvent(_HeartbeatEnd):
    """A heartbeat was answered; `reply` has the answer as `document`."""

    __slots__ = ()


class ServerHeartbeatFailedEvent(_HeartbeatEnd):
    """A heartbeat failed; `reply` is the exception."""

    __slots__ = ()
