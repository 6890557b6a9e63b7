"""Explicit sessions, causal consistency, and how cluster time travels."""
from __future__ import annotations

import copy

import gevent
import pytest
from bson.timestamp import Timestamp

from geomongo import MongoClient, ReadPreference, WriteConcern
from geomongo.errors import ConfigurationError, InvalidOperation
from geomongo.read_concern import ReadConcern
from tests.fakes.scripted_server import ScriptedServer

pytestmark = pytest.mark.integration


def test_all_of_its_operations_have_its_lsid(client, recorder, ten):
    collection = client[ten].t
    with client.start_session() as session:
        lsid = session.session_id
        collection.find_one({}, session=session)
        list(collection.find({}, batch_size=4, session=session))
        list(collection.aggregate([], session=session, batchSize=4))
        collection.insert_one({}, session=session)
        collection.insert_many([{}], session=session)
        collection.update_many({}, {"$set": {"y": 1}}, session=session)
        collection.find_one_and_delete({}, session=session)
        collection.distinct("x", session=session)
        collection.create_index("x", session=session)
        client[ten].command("ping", session=session)
        client[ten].list_collection_names(session=session)
        client.list_database_names(session=session)
        collection.find({}, session=session, batch_size=2).next()  # dropped unread
        collection.drop(session=session)
    assert len(recorder.commands()) >= 15
    assert all(command["lsid"] == lsid for command in recorder.commands())


def test_a_session_of_its_own_is_no_implicit_one(client, recorder):
    with client.start_session() as session:
        lsid = session.session_id
        client.admin.command("ping")
        client.admin.command("ping", session=session)
        client.admin.command("ping")
    one, two, three = [command["lsid"] for command in recorder.commands("ping")]
    assert one == three != two == lsid


def test_it_comes_back_to_the_pool_when_it_ends(client, recorder):
    with client.start_session() as session:
        lsid = session.session_id
    client.admin.command("ping")
    assert recorder.commands("ping")[0]["lsid"] == lsid


def test_two_sessions_at_once_are_two(client):
    with client.start_session() as one, client.start_session() as other:
        assert one.session_id != other.session_id


def test_reads_see_what_the_session_wrote(client, recorder, ten):
    collection = client[ten].t
    with client.start_session() as session:
        assert session.options.causal_consistency and session.operation_time is None
        collection.find_one({}, session=session)
        first = session.operation_time
        collection.insert_one({"_id": 50}, session=session)
        second = session.operation_time
        assert isinstance(first, Timestamp) and second > first
        assert collection.find_one({"_id": 50}, session=session) == {"_id": 50}
        with_concern = collection.with_options(read_concern=ReadConcern("majority"))
        with_concern.count_documents({}, session=session)
    opening, reading = recorder.commands("find")
    assert "readConcern" not in opening
    assert reading["readConcern"] == {"afterClusterTime": second}
    [insert] = recorder.commands("insert")
    assert "readConcern" not in insert
    [aggregate] = recorder.commands("aggregate")
    assert aggregate["readConcern"]["level"] == "majority"
    assert aggregate["readConcern"]["afterClusterTime"] >= second


READS = {
    "find": lambda t, s: list(t.find({}, session=s)), "find_one": lambda t, s: t.find_one({}, session=s),
    "aggregate": lambda t, s: list(t.aggregate([], session=s)),
    "count_documents": lambda t, s: t.count_documents({}, session=s),
    "distinct": lambda t, s: t.distinct("x", session=s),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
@pytest.mark.parametrize("causal", [True, False])
def test_after_cluster_time_goes_with_reads_of_causal_sessions(client, recorder, ten, read, causal):
    with client.start_session(causal_consistency=causal) as session:
        client.admin.command("ping", session=session)
        seen = session.operation_time
        read(client[ten].t, session)
    assert seen is not None
    [command] = recorder.commands(*READS, "aggregate")
    assert command.get("readConcern") == ({"afterClusterTime": seen} if causal else None)


def test_get_more_has_no_read_concern(client, recorder, ten):
    with client.start_session() as session:
        client.admin.command("ping", session=session)
        list(client[ten].t.find({}, session=session, batch_size=4))
    assert len(recorder.commands("getMore")) == 2
    assert all("readConcern" not in command for command in recorder.commands("getMore"))


def test_the_operation_time_goes_on_when_a_command_fails(client, ten):
    with client.start_session() as session:
        with pytest.raises(Exception, match="foo"):
            client[ten].t.find_one({"$foo": 1}, session=session)
        assert session.operation_time is not None and session.cluster_time is not None


def test_times_can_be_taken_over_and_never_go_back(client, connect, ten):
    other = connect()
    with client.start_session() as source, other.start_session() as session:
        client[ten].t.insert_one({}, session=source)
        session.advance_cluster_time(source.cluster_time)
        session.advance_operation_time(source.operation_time)
        assert (session.cluster_time, session.operation_time) == (source.cluster_time, source.operation_time)
        session.advance_operation_time(Timestamp(1, 1))
        session.advance_cluster_time({"clusterTime": Timestamp(1, 1)})
        assert (session.cluster_time, session.operation_time) == (source.cluster_time, source.operation_time)
        assert other[ten].t.find_one({}, session=session) is not None
        for call, error in ((lambda: session.advance_cluster_time(3), TypeError),
                            (lambda: session.advance_cluster_time({}), ValueError),
                            (lambda: session.advance_operation_time(3), TypeError)):
            with pytest.raises(error):
                call()


def test_an_ended_session_is_refused_before_a_byte_is_sent(client, recorder, ten):
    session = client.start_session()
    cursor = client[ten].t.find({}, session=session, batch_size=2)
    next(cursor)
    session.end_session()
    session.end_session()
    assert session.has_ended
    recorder.clear()
    for call in (lambda: client[ten].t.find_one({}, session=session), lambda: client[ten].t.find({}, session=session),
                 lambda: client[ten].t.insert_one({}, session=session), lambda: session.session_id,
                 lambda: client.admin.command("ping", session=session), lambda: list(cursor),
                 lambda: session.__enter__()):
        with pytest.raises(InvalidOperation, match="Cannot use ended session"):
            call()
    assert recorder.commands() == []


def test_another_clients_session_is_refused(client, connect, recorder, ten):
    with connect().start_session() as foreign:
        for call in (lambda: client[ten].t.find_one({}, session=foreign),
                     lambda: client[ten].t.insert_many([{}], session=foreign),
                     lambda: client.list_database_names(session=foreign)):
            with pytest.raises(InvalidOperation, match="the MongoClient that started it"):
                call()
    assert recorder.commands() == []


def test_unacknowledged_writes_are_refused(client, recorder, ten):
    silent = client[ten].t.with_options(write_concern=WriteConcern(w=0))
    with client.start_session() as session, pytest.raises(ConfigurationError, match="unacknowledged write concern"):
        silent.insert_one({}, session=session)
    assert recorder.commands() == []
    [stats] = client.pool_stats()
    assert stats.in_use == 0


def test_a_session_cannot_be_copied(client):
    with client.start_session() as session, pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(session)


def test_cluster_time_goes_along_once_it_is_known(tapped, tap, ten):
    tapped.admin.command("ping")
    tapped[ten].t.insert_one({})
    tapped.admin.command("ping")
    first, insert, last = [sent.command for sent in tap.sent("ping", "insert")]
    assert "$clusterTime" not in first
    assert insert["$clusterTime"]["clusterTime"] < last["$clusterTime"]["clusterTime"]


def test_the_highest_cluster_time_is_sent(client, recorder, aside, ten):
    with aside.start_session() as ahead, client.start_session() as session:
        client.admin.command("ping", session=session)
        for _ in range(3):
            aside[ten].t.insert_one({}, session=ahead)
        session.advance_cluster_time(ahead.cluster_time)
        client.admin.command("ping", session=session)
        client.admin.command("ping")
    times = [command["$clusterTime"]["clusterTime"] for command in recorder.commands("ping")[1:]]
    assert times[0] == ahead.cluster_time["clusterTime"]
    assert times == sorted(times)


def test_a_lower_cluster_time_is_not_believed():
    times, seen = iter([5, 3, 7, 6]), []

    def script(peer):
        while True:
            request = peer.request()
            if request.is_hello:
                peer.reply(request)
                continue
            seen.append(request.document.get("$clusterTime"))
            peer.reply(request, {"ok": 1.0, "$clusterTime": {"clusterTime": Timestamp(next(times, 1), 1)}})

    with ScriptedServer(script) as server, MongoClient(f"mongodb://{server.name}/") as client:
        for _ in range(4):
            client.admin.command("ping")
    assert seen[0] is None
    assert [time["clusterTime"].time for time in seen[1:4]] == [5, 5, 7]


def test_a_session_shared_by_two_greenlets_in_turn(client, recorder, ten):
    with client.start_session() as session:
        for number in range(4):
            assert gevent.spawn(client[ten].t.find_one, {"_id": number}, session=session).get() is not None
        assert len({bytes(command["lsid"]["id"]) for command in recorder.commands("find")}) == 1


def test_preferences_of_reads_go_along_in_a_session(client, recorder, ten):
    collection = client[ten].t.with_options(read_preference=ReadPreference.SECONDARY_PREFERRED)
    with client.start_session() as session:
        assert collection.find_one({}, session=session) is not None
    assert recorder.commands("find")[0]["lsid"]
