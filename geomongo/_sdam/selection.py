"""Which servers an operation may go to.

Source: specifications/source/server-selection/server-selection.md and max-staleness/max-staleness.md.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from geomongo._sdam.server_description import ServerDescription
from geomongo._sdam.topology_description import TopologyDescription
from geomongo.errors import ConfigurationError
from geomongo.server_type import SERVER_TYPE, TOPOLOGY_TYPE

PRIMARY, PRIMARY_PREFERRED, SECONDARY, SECONDARY_PREFERRED, NEAREST = range(5)
#: How often an idle primary writes a no-op, in seconds; staleness cannot be known more finely.
_IDLE_WRITE_PERIOD = 10.0
_SMALLEST_MAX_STALENESS = 90

Servers = list[ServerDescription]


def suitable(topology: TopologyDescription, preference: Any, local_threshold: float) -> Servers:
    """The servers in the latency window that fit `preference` (None: a write).

    `local_threshold` is in seconds. Raises ConfigurationError for a maxStalenessSeconds that cannot be kept.
    """
    kind = topology.topology_type
    readable = topology.readable_servers
    if kind in (TOPOLOGY_TYPE.Single, TOPOLOGY_TYPE.LoadBalanced):
        return topology.known_servers
    if kind == TOPOLOGY_TYPE.Sharded:
        return in_window(readable, local_threshold)
    if kind == TOPOLOGY_TYPE.Unknown:
        return []
    if preference is None or preference.mode == PRIMARY:
        return [server for server in readable if server.server_type == SERVER_TYPE.RSPrimary]
    return in_window(_by_mode(topology, readable, preference), local_threshold)


def in_window(servers: Sequence[ServerDescription], local_threshold: float) -> Servers:
    """The servers whose round trip is at most `local_threshold` seconds longer than the shortest."""
    if len(servers) < 2:
        return list(servers)
    limit = min(server.round_trip_time or 0.0 for server in servers) + local_threshold
    return [server for server in servers if (server.round_trip_time or 0.0) <= limit]


def _by_mode(topology: TopologyDescription, readable: Servers, preference: Any) -> Servers:
    check_max_staleness(topology, preference.max_staleness)
    primary = [server for server in readable if server.server_type == SERVER_TYPE.RSPrimary]
    secondaries = [server for server in readable if server.server_type == SERVER_TYPE.RSSecondary]
    if preference.mode == NEAREST:
        return _by_tags(_fresh(topology, primary + secondaries, preference.max_staleness), preference.tag_sets)
    fitting = _by_tags(_fresh(topology, secondaries, preference.max_staleness), preference.tag_sets)
    if preference.mode == SECONDARY:
        return fitting
    if preference.mode == PRIMARY_PREFERRED:
        return primary or fitting
    return fitting or primary


def check_max_staleness(topology: TopologyDescription, max_staleness: int) -> None:
    """Raise ConfigurationError where maxStalenessSeconds is finer than heartbeats can tell."""
    if max_staleness == -1:
        return
    least = topology.heartbeat_frequency + _IDLE_WRITE_PERIOD
    if max_staleness < max(least, _SMALLEST_MAX_STALENESS):
        raise ConfigurationError(
            f"maxStalenessSeconds must be at least heartbeatFrequencyMS + {_IDLE_WRITE_PERIOD:.0f} seconds "
            f"({least:g}) and at least {_SMALLEST_MAX_STALENESS} seconds; it is {max_staleness}")


def _fresh(topology: TopologyDescription, servers: Servers, max_staleness: int) -> Servers:
    if max_staleness == -1:
        return servers
    everyone = topology.readable_servers
    primary = next((server for server in everyone if server.server_type == SERVER_TYPE.RSPrimary), None)
    latest = max((server.last_write_date or 0.0 for server in everyone
                  if server.server_type == SERVER_TYPE.RSSecondary), default=0.0)
    return [server for server in servers
            if _staleness(server, primary, latest, topology.heartbeat_frequency) <= max_staleness]


def _staleness(server: ServerDescription, primary: Optional[ServerDescription], latest: float,
               heartbeat_frequency: float) -> float:
    """Estimated seconds that `server` lags behind."""
    if server.server_type == SERVER_TYPE.RSPrimary:
        return 0.0
    written = server.last_write_date or 0.0
    if primary is None:
        return latest - written + heartbeat_frequency
    lag = (server.last_update_time - written) - (primary.last_update_time - (primary.last_write_date or 0.0))
    return lag + heartbeat_frequency


def _by_tags(servers: Servers, tag_sets: Optional[Sequence[Mapping[str, Any]]]) -> Servers:
    for tags in tag_sets or ({},):
        fitting = [server for server in servers if all(server.tags.get(name) == value for name, value in tags.items())]
        if fitting:
            return fitting
    return []
