"""What is known of the whole deployment, immutable.

Source: specifications/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md,
"TopologyDescription".
"""
from __future__ import annotations

from typing import Any, Mapping, Optional

from geomongo._sdam.server_description import ServerDescription
from geomongo.constants import MAX_SUPPORTED_WIRE_VERSION, MIN_SUPPORTED_WIRE_VERSION
from geomongo.errors import ConfigurationError
from geomongo.server_type import SERVER_TYPE, TOPOLOGY_TYPE
from geomongo.typings import Address

# The first server versions that speak these wire versions, for messages.
_SERVER_OF_WIRE = {8: "4.2", 9: "4.4", 13: "5.0", 17: "6.0", 21: "7.0", 25: "8.0"}


class TopologyDescription:
    """Type, servers by address, and what replica-set members have said of elections."""

    __slots__ = ("_servers", "heartbeat_frequency", "max_election_id", "max_set_version", "replica_set_name",
                 "topology_type")

    def __init__(self, topology_type: int, servers: Mapping[Address, ServerDescription],
                 replica_set_name: Optional[str] = None, max_set_version: Optional[int] = None,
                 max_election_id: Any = None, heartbeat_frequency: float = 10.0) -> None:
        self.topology_type = topology_type
        self._servers = dict(servers)
        self.replica_set_name = replica_set_name
        self.max_set_version = max_set_version
        self.max_election_id = max_election_id
        self.heartbeat_frequency = heartbeat_frequency

    @property
    def topology_type_name(self) -> str:
        """The type's name, as in the specification."""
        return str(TOPOLOGY_TYPE._fields[self.topology_type])

    def server_descriptions(self) -> dict[Address, ServerDescription]:
        """Every server by address."""
        return dict(self._servers)

    def has_server(self, address: Address) -> bool:
        """Whether `address` is part of the deployment."""
        return address in self._servers

    @property
    def known_servers(self) -> list[ServerDescription]:
        """The servers that have answered."""
        return [server for server in self._servers.values() if server.is_server_type_known]

    @property
    def has_known_servers(self) -> bool:
        """Whether any server has answered."""
        return any(server.is_server_type_known for server in self._servers.values())

    @property
    def readable_servers(self) -> list[ServerDescription]:
        """The servers that hold data."""
        return [server for server in self._servers.values() if server.is_readable]

    @property
    def common_wire_version(self) -> Optional[int]:
        """The lowest maxWireVersion of the servers that have answered."""
        return min((server.max_wire_version for server in self.known_servers), default=None)

    @property
    def logical_session_timeout_minutes(self) -> Optional[int]:
        """The lowest of the data-bearing servers, in minutes; None where one of them has no sessions."""
        timeouts = [server.logical_session_timeout_minutes for server in self.readable_servers]
        if not timeouts or None in timeouts:
            return None
        return min(timeout for timeout in timeouts if timeout is not None)

    def check_compatible(self) -> None:
        """Raise ConfigurationError where a server and the driver have no wire version in common."""
        for server in self.known_servers:
            if server.server_type == SERVER_TYPE.LoadBalancer:
                continue
            host = f"{server.address[0]}:{server.address[1]}"
            if server.min_wire_version > MAX_SUPPORTED_WIRE_VERSION:
                raise ConfigurationError(
                    f"Server at {host} requires wire version {server.min_wire_version}, but this version of geomongo "
                    f"only supports up to {MAX_SUPPORTED_WIRE_VERSION}.")
            if server.max_wire_version < MIN_SUPPORTED_WIRE_VERSION:
                needed = _SERVER_OF_WIRE.get(MIN_SUPPORTED_WIRE_VERSION, "newer")
                raise ConfigurationError(
                    f"Server at {host} reports wire version {server.max_wire_version}, but this version of geomongo "
                    f"requires at least {MIN_SUPPORTED_WIRE_VERSION} (MongoDB {needed}).")

    def has_readable_server(self, read_preference: Any = None) -> bool:
        """Whether a read could go somewhere now."""
        return bool(self.readable_servers)

    def has_writable_server(self) -> bool:
        """Whether a write could go somewhere now."""
        return any(server.is_writable for server in self._servers.values())

    def replace(self, **changes: Any) -> TopologyDescription:
        """A copy with `changes`, named as the constructor's parameters."""
        values: dict[str, Any] = {
            "topology_type": self.topology_type, "servers": self._servers, "replica_set_name": self.replica_set_name,
            "max_set_version": self.max_set_version, "max_election_id": self.max_election_id,
            "heartbeat_frequency": self.heartbeat_frequency}
        values.update(changes)
        return TopologyDescription(**values)

    def __repr__(self) -> str:
        servers = sorted(self._servers.values(), key=lambda server: str(server.address))
        return f"<{self.__class__.__name__} topology_type: {self.topology_type_name}, servers: {servers}>"
