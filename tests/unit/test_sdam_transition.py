"""The table of topology changes, cell by cell, and the rules around it."""
from __future__ import annotations

import datetime
import time

import pytest
from bson import ObjectId

from geomongo._sdam import transition
from geomongo._sdam.server_description import ServerDescription, parse_address
from geomongo.errors import AutoReconnect, ConfigurationError, NotPrimaryError

A, B, C = ("a", 27017), ("b", 27017), ("c", 27017)
OK = {"ok": 1, "minWireVersion": 0, "maxWireVersion": 21}
MEMBER = {**OK, "setName": "rs", "hosts": ["a", "b"]}
HELLOS = {
    "Unknown": {}, "Standalone": OK, "Mongos": {**OK, "msg": "isdbgrid"}, "RSGhost": {**OK, "isreplicaset": True},
    "RSPrimary": {**MEMBER, "isWritablePrimary": True}, "RSSecondary": {**MEMBER, "secondary": True},
    "RSArbiter": {**MEMBER, "arbiterOnly": True}, "RSOther": {**MEMBER, "hidden": True},
    "LoadBalancer": {**OK, "serviceId": ObjectId()},
}
MEMBERS = ("RSSecondary", "RSArbiter", "RSOther")
SINGLE, NO_PRIMARY, WITH_PRIMARY, SHARDED, UNKNOWN, BALANCED = (
    "Single", "ReplicaSetNoPrimary", "ReplicaSetWithPrimary", "Sharded", "Unknown", "LoadBalanced")


def hello(kind, address=A, **fields):
    return ServerDescription(address, {**HELLOS[kind], **fields} if HELLOS[kind] else None)


def topology_of(kind, *seeds):
    """A topology of `kind` with `seeds`; the first of them is not yet known, the primary where there is one is c."""
    seeds = seeds or (A, B)
    start = transition.initial(seeds, "rs" if kind in (NO_PRIMARY, WITH_PRIMARY) else None, kind == SINGLE,
                               kind == BALANCED, 10.0)
    if kind == SHARDED:
        return transition.apply(start, hello("Mongos", B))
    if kind == WITH_PRIMARY:
        with_c = transition.initial((*seeds, C), "rs", False, False, 10.0)
        return transition.apply(with_c, hello("RSPrimary", C, hosts=["a", "b", "c"]))
    return start


@pytest.mark.parametrize("kind", HELLOS)
def test_the_type_of_a_server(kind):
    assert hello(kind).server_type_name == kind
    assert ServerDescription(A, {**HELLOS[kind], "ok": 0}).server_type_name == "Unknown"


# topology, server, the topology's type afterwards, the addresses in it, the server's type in it
CELLS = [
    (SINGLE, "Standalone", SINGLE, [A], "Standalone"),
    (SINGLE, "RSSecondary", SINGLE, [A], "RSSecondary"),
    (SINGLE, "Unknown", SINGLE, [A], "Unknown"),
    (UNKNOWN, "Unknown", UNKNOWN, [A, B], "Unknown"),
    (UNKNOWN, "RSGhost", UNKNOWN, [A, B], "RSGhost"),
    (UNKNOWN, "Standalone", UNKNOWN, [B], None),
    (UNKNOWN, "Mongos", SHARDED, [A, B], "Mongos"),
    (UNKNOWN, "RSPrimary", WITH_PRIMARY, [A, B], "RSPrimary"),
    *[(UNKNOWN, member, NO_PRIMARY, [A, B], member) for member in MEMBERS],
    (SHARDED, "Unknown", SHARDED, [A, B], "Unknown"),
    (SHARDED, "Mongos", SHARDED, [A, B], "Mongos"),
    *[(SHARDED, kind, SHARDED, [B], None) for kind in ("Standalone", "RSPrimary", "RSGhost", *MEMBERS)],
    (NO_PRIMARY, "Unknown", NO_PRIMARY, [A, B], "Unknown"),
    (NO_PRIMARY, "RSGhost", NO_PRIMARY, [A, B], "RSGhost"),
    (NO_PRIMARY, "Standalone", NO_PRIMARY, [B], None),
    (NO_PRIMARY, "Mongos", NO_PRIMARY, [B], None),
    (NO_PRIMARY, "RSPrimary", WITH_PRIMARY, [A, B], "RSPrimary"),
    *[(NO_PRIMARY, member, NO_PRIMARY, [A, B], member) for member in MEMBERS],
    (WITH_PRIMARY, "Unknown", WITH_PRIMARY, [A, B, C], "Unknown"),
    (WITH_PRIMARY, "RSGhost", WITH_PRIMARY, [A, B, C], "RSGhost"),
    (WITH_PRIMARY, "Standalone", WITH_PRIMARY, [B, C], None),
    (WITH_PRIMARY, "Mongos", WITH_PRIMARY, [B, C], None),
    # the new primary does not list c
    (WITH_PRIMARY, "RSPrimary", WITH_PRIMARY, [A, B], "RSPrimary"),
    *[(WITH_PRIMARY, member, WITH_PRIMARY, [A, B, C], member) for member in MEMBERS],
    (BALANCED, "Standalone", BALANCED, [A], "LoadBalancer"),
]


@pytest.mark.parametrize(("topology", "server", "becomes", "addresses", "type_name"), CELLS)
def test_a_cell_of_the_table(topology, server, becomes, addresses, type_name):
    before = topology_of(topology, A) if topology in (SINGLE, BALANCED) else topology_of(topology)
    names = [one.server_type_name for one in before.server_descriptions().values()]
    after = transition.apply(before, hello(server))
    servers = after.server_descriptions()
    assert after.topology_type_name == becomes
    assert sorted(servers) == addresses
    assert (servers[A].server_type_name if A in servers else None) == type_name
    # a description is never changed in place
    assert [one.server_type_name for one in before.server_descriptions().values()] == names


def test_a_lone_standalone_is_a_single():
    after = transition.apply(topology_of(UNKNOWN, A), hello("Standalone"))
    assert after.topology_type_name == SINGLE


@pytest.mark.parametrize("kind", ["Unknown", "RSGhost", "RSSecondary", "RSArbiter", "RSOther"])
def test_a_primary_that_is_one_no_more(kind):
    after = transition.apply(topology_of(WITH_PRIMARY), hello(kind, C))
    assert after.topology_type_name == NO_PRIMARY
    assert after.server_descriptions()[C].server_type_name == kind


@pytest.mark.parametrize("kind", ["Standalone", "Mongos"])
def test_a_primary_that_turns_into_something_else(kind):
    after = transition.apply(topology_of(WITH_PRIMARY), hello(kind, C))
    assert after.topology_type_name == NO_PRIMARY
    assert not after.has_server(C)


def test_a_stranger_changes_nothing():
    before = topology_of(WITH_PRIMARY)
    assert transition.apply(before, hello("RSPrimary", ("stranger", 1))) is before


def test_a_new_primary_demotes_the_old_one():
    after = transition.apply(topology_of(WITH_PRIMARY), hello("RSPrimary", A, hosts=["a", "b", "c"]))
    servers = after.server_descriptions()
    assert servers[A].server_type_name == "RSPrimary"
    assert servers[C].server_type_name == "Unknown"
    assert "primary marked stale due to discovery of newer primary" in str(servers[C].error)


@pytest.mark.parametrize("wire", [16, 21])
def test_a_primary_of_an_older_election_is_refused(wire):
    old, new = ObjectId("0" * 23 + "1"), ObjectId("0" * 23 + "2")
    fields = {"hosts": ["a", "b", "c"], "setVersion": 1, "maxWireVersion": wire}
    topology = transition.apply(topology_of(NO_PRIMARY, A, B, C), hello("RSPrimary", C, electionId=new, **fields))
    after = transition.apply(topology, hello("RSPrimary", A, electionId=old, **fields))
    assert after.server_descriptions()[A].server_type_name == "Unknown"
    assert "electionId/setVersion mismatch" in str(after.server_descriptions()[A].error)
    assert after.server_descriptions()[C].server_type_name == "RSPrimary"
    assert (after.max_election_id, after.max_set_version) == (new, 1)


@pytest.mark.parametrize(("topology", "becomes"), [(NO_PRIMARY, NO_PRIMARY), (WITH_PRIMARY, WITH_PRIMARY)])
@pytest.mark.parametrize("kind", ["RSPrimary", *MEMBERS])
def test_a_member_of_another_set_is_removed(topology, becomes, kind):
    after = transition.apply(topology_of(topology), hello(kind, setName="other"))
    assert not after.has_server(A)
    assert after.topology_type_name == becomes


@pytest.mark.parametrize("topology", [NO_PRIMARY, WITH_PRIMARY])
def test_a_member_that_calls_itself_otherwise_is_removed(topology):
    after = transition.apply(topology_of(topology), hello("RSSecondary", me="elsewhere:1"))
    assert not after.has_server(A)


def test_the_wrong_set_of_a_direct_connection_is_an_error_that_names_both():
    single = transition.initial([A], "wanted", True, False, 10.0)
    after = transition.apply(single, hello("RSPrimary"))
    assert after.topology_type_name == SINGLE
    assert after.server_descriptions()[A].server_type_name == "Unknown"
    assert "'wanted'" in str(after.server_descriptions()[A].error)
    assert "'rs'" in str(after.server_descriptions()[A].error)


VERSION = {"processId": ObjectId("0" * 24), "counter": 5}


@pytest.mark.parametrize(("known", "new", "stale"), [
    (None, None, False), (None, VERSION, False), (VERSION, None, False), (VERSION, VERSION, False),
    (VERSION, {**VERSION, "counter": 4}, True), (VERSION, {**VERSION, "counter": 6}, False),
    (VERSION, {"processId": ObjectId("1" * 24), "counter": 1}, False)])
def test_stale_versions(known, new, stale):
    assert transition.is_stale_version(known, new) is stale
    described = [ServerDescription(A, {"ok": 1, "topologyVersion": version} if version else None)
                 for version in (known, new)]
    assert transition.is_stale(*described) is stale


def test_an_unknown_server_keeps_the_version_of_the_error_that_made_it_unknown():
    error = NotPrimaryError("no", {"topologyVersion": VERSION})
    unknown = hello("RSPrimary").to_unknown(error)
    assert unknown.server_type_name == "Unknown"
    assert unknown.topology_version == VERSION
    assert unknown.error is error
    assert hello("RSPrimary").to_unknown(AutoReconnect("x")).topology_version is None


@pytest.mark.parametrize(("low", "high", "text"), [
    (0, 7, r"a:27017 reports wire version 7, but .* requires at least 8 \(MongoDB 4.2\)"),
    (1000, 1001, "a:27017 requires wire version 1000, but .* only supports up to"),
])
def test_wire_versions_that_do_not_meet(low, high, text):
    topology = transition.apply(topology_of(UNKNOWN, A), hello("Standalone", minWireVersion=low, maxWireVersion=high))
    with pytest.raises(ConfigurationError, match=text):
        topology.check_compatible()


@pytest.mark.parametrize(("minutes", "expected"), [((30, 20), 20), ((30, None), None), ((None, None), None)])
def test_session_timeout_is_the_lowest_of_those_that_hold_data(minutes, expected):
    topology = topology_of(SHARDED)
    for address, timeout in zip((A, B), minutes):
        topology = transition.apply(topology, hello("Mongos", address, logicalSessionTimeoutMinutes=timeout))
    assert topology.logical_session_timeout_minutes == expected
    arbiter = transition.apply(topology_of(NO_PRIMARY), hello("RSArbiter", logicalSessionTimeoutMinutes=1))
    assert arbiter.logical_session_timeout_minutes is None


@pytest.mark.parametrize(("text", "address"), [
    ("a:1", ("a", 1)), ("A.Example:27018", ("a.example", 27018)), ("a", ("a", 27017)), ("[::1]:5", ("::1", 5)),
    ("[::1]", ("::1", 27017)), ("/tmp/mongodb-1.sock", ("/tmp/mongodb-1.sock", None))])
def test_addresses(text, address):
    assert parse_address(text) == address


def test_dates_without_a_zone_are_utc(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        server = hello("RSSecondary", lastWrite={"lastWriteDate": datetime.datetime(1970, 1, 1, 0, 0, 5)})
        assert server.last_write_date == 5.0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_descriptions_are_equal_whatever_their_times():
    one = ServerDescription(A, OK, 0.1, last_update_time=1.0)
    other = ServerDescription(A, {**OK, "lastWrite": {"lastWriteDate": 1}}, 0.2, last_update_time=2.0)
    assert one == other and hash(one) == hash(other)
    assert one != ServerDescription(B, OK)
    assert one != hello("Mongos")
