"""The server discovery and monitoring specification's tests, on the pure table of changes."""
from __future__ import annotations

import pytest
from bson import json_util

from geomongo._options.client_options import client_options
from geomongo._sdam import transition
from geomongo._sdam.server_description import ServerDescription, parse_address
from geomongo._sdam.topology_description import TOPOLOGY_TYPE
from geomongo.errors import AutoReconnect, ConfigurationError
from tests.spec.spec_files import load_whole

FOLDERS = ["rs", "single", "sharded", "load-balanced", "errors", "monitoring"]
UTC = json_util.JSONOptions(tz_aware=False)
# The fields of an outcome's server, and where they are in a description. An unknown server has none of them.
FIELDS = {"setName": "replica_set_name", "setVersion": "set_version", "electionId": "election_id",
          "logicalSessionTimeoutMinutes": "logical_session_timeout_minutes", "topologyVersion": "topology_version",
          "minWireVersion": "min_wire_version", "maxWireVersion": "max_wire_version"}


@pytest.mark.parametrize("case", [case for folder in FOLDERS
                                  for case in load_whole(f"server-discovery-and-monitoring/tests/{folder}")])
def test_server_discovery(case):
    options = client_options(case["uri"])
    topology = transition.initial(options.seeds, options.replica_set, bool(options.direct_connection),
                                  options.load_balanced, options.heartbeat_frequency)
    for number, phase in enumerate(case["phases"]):
        for address, hello in phase.get("responses", ()):
            topology = respond(topology, parse_address(address), decoded(hello))
        check_outcome(topology, phase["outcome"], f"phase {number}")


def decoded(hello):
    return json_util.loads(json_util.dumps(hello), json_options=UTC)


def respond(topology, address, hello):
    """What a monitor and the topology do with a reply; an empty one stands for a network error."""
    if hello:
        server = ServerDescription(address, hello)
    else:
        server = ServerDescription(address, error=AutoReconnect("lost"))
    known = topology.server_descriptions().get(address)
    if known is None or transition.is_stale(known, server):
        return topology
    return transition.apply(topology, server)


def check_outcome(topology, outcome, phase):
    assert topology.topology_type_name == outcome["topologyType"], phase
    assert topology.replica_set_name == outcome["setName"], phase
    found = topology.server_descriptions()
    assert set(found) == {parse_address(address) for address in outcome["servers"]}, phase
    for address, expected in outcome["servers"].items():
        check_server(found[parse_address(address)], expected, f"{phase}, {address}")
    if "logicalSessionTimeoutMinutes" in outcome and topology.topology_type != TOPOLOGY_TYPE.LoadBalanced:
        assert topology.logical_session_timeout_minutes == outcome["logicalSessionTimeoutMinutes"], phase
    if "maxSetVersion" in outcome:
        assert topology.max_set_version == outcome["maxSetVersion"], phase
    if "maxElectionId" in outcome:
        expected = outcome["maxElectionId"]
        assert topology.max_election_id == (decoded(expected) if expected else None), phase
    if outcome.get("compatible", True):
        topology.check_compatible()
    else:
        with pytest.raises(ConfigurationError, match="wire version"):
            topology.check_compatible()


def check_server(server, expected, where):
    # A server that nobody has asked is Unknown: that it may be a primary is of use to single-threaded drivers only.
    assert server.server_type_name == expected["type"].replace("PossiblePrimary", "Unknown"), where
    for field, value in expected.items():
        if field == "error":
            assert str(value) in str(server.error), where
        elif field in FIELDS:
            found = getattr(server, FIELDS[field])
            if value is None and field.endswith("WireVersion"):
                assert found == 0, where
            else:
                assert found == (decoded(value) if isinstance(value, dict) else value), (where, field)
