"""Selection where the published tests say little: unknown topologies, windows, staleness over the edge."""
from __future__ import annotations

import pytest

from geomongo._sdam import selection
from geomongo._sdam.server_description import ServerDescription
from geomongo._sdam.topology_description import TOPOLOGY_TYPE, TopologyDescription
from geomongo.errors import ConfigurationError
from geomongo.read_preferences import Nearest, Primary, Secondary
from geomongo.server_type import SERVER_TYPE


def topology(kind, *servers, heartbeat=10.0):
    return TopologyDescription(getattr(TOPOLOGY_TYPE, kind), {server.address: server for server in servers},
                               heartbeat_frequency=heartbeat)


def server(name, kind, rtt=0.01):
    return ServerDescription((name, 27017), round_trip_time=rtt, server_type=getattr(SERVER_TYPE, kind))


def names(servers):
    return [one.address[0] for one in servers]


@pytest.mark.parametrize(("times", "window", "expected"), [
    ([], 0.015, ""), ([9.0], 0.0, "a"), ([0.01, 0.02, 0.03], 0.015, "ab"), ([0.01, 0.025, 0.0251], 0.015, "ab"),
    ([0.03, 0.02, 0.01], 0.0, "c"), ([0.01, 0.01, 0.02], 0.0, "ab"), ([None, 0.01, 0.02], 0.015, "ab")])
def test_the_latency_window(times, window, expected):
    servers = [server(name, "Mongos", time) for name, time in zip("abc", times)]
    assert names(selection.in_window(servers, window)) == list(expected)


@pytest.mark.parametrize("preference", [None, Primary(), Nearest()])
def test_nothing_is_selected_from_an_unknown_topology(preference):
    assert selection.suitable(topology("Unknown", server("a", "Unknown")), preference, 0.015) == []


@pytest.mark.parametrize("preference", [None, Primary(), Secondary([{"x": "y"}], max_staleness=1)])
def test_a_single_server_takes_everything(preference):
    for kind in ("Standalone", "RSSecondary", "RSArbiter", "RSOther"):
        assert names(selection.suitable(topology("Single", server("a", kind)), preference, 0.015)) == ["a"]


@pytest.mark.parametrize("preference", [None, Primary()])
def test_writes_go_to_the_primary_and_nowhere_else(preference):
    members = topology("ReplicaSetWithPrimary", server("a", "RSSecondary"), server("b", "RSPrimary", 9.0),
                       server("c", "RSArbiter"))
    assert names(selection.suitable(members, preference, 0.015)) == ["b"]
    orphans = topology("ReplicaSetNoPrimary", server("a", "RSSecondary"))
    assert selection.suitable(orphans, preference, 0.015) == []


@pytest.mark.parametrize(("heartbeat", "least"), [(10.0, 90), (80.0, 90), (120.0, 130)])
def test_the_smallest_staleness_that_heartbeats_can_tell(heartbeat, least):
    members = topology("ReplicaSetWithPrimary", server("a", "RSSecondary"), heartbeat=heartbeat)
    assert selection.check_max_staleness(members, least) is None
    assert selection.check_max_staleness(members, -1) is None
    with pytest.raises(ConfigurationError, match=f"it is {least - 1}"):
        selection.check_max_staleness(members, least - 1)
