"""The tests of the server selection and max staleness specifications, on the pure rules."""
from __future__ import annotations

import math

import pytest
from bson import json_util

from geomongo._sdam import selection
from geomongo._sdam.rtt import RoundTripTime
from geomongo._sdam.server_description import ServerDescription, parse_address
from geomongo._sdam.topology_description import TOPOLOGY_TYPE, TopologyDescription
from geomongo.errors import ConfigurationError
from geomongo.read_preferences import make_read_preference, read_pref_mode_from_name
from geomongo.server_type import SERVER_TYPE
from tests.spec.spec_files import load_whole

WINDOW = 0.015
# Between 1970 and the oldest date in these files.
JSON = json_util.JSONOptions(tz_aware=False)


@pytest.mark.parametrize("case", load_whole("server-selection/tests/server_selection")
                         + load_whole("max-staleness/tests"))
def test_selection(case):
    topology = description(case)
    if case.get("error"):
        with pytest.raises((ConfigurationError, ValueError)):
            selection.suitable(topology, preference(case), WINDOW)
        return
    wanted = None if case.get("operation") == "write" else preference(case)
    assert addresses(selection.suitable(topology, wanted, math.inf)) == expected(case["suitable_servers"])
    assert addresses(selection.suitable(topology, wanted, WINDOW)) == expected(case["in_latency_window"])


def description(case):
    given = case["topology_description"]
    servers = [server(fields) for fields in given["servers"]]
    kind = getattr(TOPOLOGY_TYPE, given["type"])
    return TopologyDescription(kind, {one.address: one for one in servers},
                               heartbeat_frequency=case.get("heartbeatFrequencyMS", 10_000) / 1000)


def server(fields):
    hello = json_util.loads(json_util.dumps({name: fields[name] for name in ("tags", "maxWireVersion")
                                             if name in fields}), json_options=JSON)
    if "lastWrite" in fields:
        date = {"$date": fields["lastWrite"]["lastWriteDate"]}
        hello["lastWrite"] = json_util.loads(json_util.dumps({"lastWriteDate": date}), json_options=JSON)
    # A server that may be a primary is of use to single-threaded drivers only.
    kind = getattr(SERVER_TYPE, fields["type"].replace("PossiblePrimary", "Unknown"))
    return ServerDescription(parse_address(fields["address"]), hello, fields.get("avg_rtt_ms", 0) / 1000,
                             last_update_time=fields.get("lastUpdateTime", 0) / 1000, server_type=kind)


def preference(case):
    given = case["read_preference"]
    mode = given.get("mode", "primary")
    tags = given.get("tag_sets") or None
    return make_read_preference(read_pref_mode_from_name(mode[0].lower() + mode[1:]), tags,
                                given.get("maxStalenessSeconds", -1))


def addresses(servers):
    return sorted(one.address for one in servers)


def expected(servers):
    return sorted(parse_address(one["address"]) for one in servers)


@pytest.mark.parametrize("case", load_whole("server-selection/tests/rtt"))
def test_average_round_trip_time(case):
    times = RoundTripTime()
    if case["avg_rtt_ms"] != "NULL":
        times.add(case["avg_rtt_ms"])
    times.add(case["new_rtt_ms"])
    assert times.average == pytest.approx(case["new_avg_rtt"], rel=1e-9)
