"""The client and its databases and collections as Python objects: repr, equality, copies, attributes."""
from __future__ import annotations

import copy
import pickle

import pytest

import geomongo
from geomongo import MongoClient, ReadPreference, WriteConcern
from geomongo.driver_info import DriverInfo
from geomongo.errors import ConfigurationError, InvalidOperation, ServerSelectionTimeoutError
from tests.deployment.secantus import free_port

pytestmark = pytest.mark.integration

SECRET = "hunter2"


@pytest.mark.parametrize("make", [
    lambda: MongoClient(f"mongodb://user:{SECRET}@localhost/"),
    lambda: MongoClient("localhost", username="user", password=SECRET),
    lambda: MongoClient(f"mongodb://user:{SECRET}@localhost/?authMechanism=SCRAM-SHA-256"),
    lambda: MongoClient(f"mongodb://user:{SECRET}@local host:99999/"),
    lambda: MongoClient(f"mongodb://user:{SECRET}@@localhost/"),
    lambda: MongoClient(f"mongodb://user:{SECRET}@localhost/?authMechanism=nosuch"),
    lambda: MongoClient("localhost", password=SECRET, nosuch=1),
    lambda: MongoClient("localhost", username="user", password=[SECRET]),
], ids=range(8))
def test_no_error_tells_the_password(make):
    with pytest.raises(Exception) as raised:
        make()
    shown = [str(error) + repr(error) for error in chain(raised.value)]
    assert SECRET not in "".join(shown)


def chain(error):
    """An error, and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def test_authentication_is_refused_and_says_so():
    with pytest.raises(ConfigurationError, match="authentication is not supported by this version of geomongo"):
        MongoClient(f"mongodb://user:{SECRET}@localhost/")


def test_repr_is_what_makes_such_a_client(uri):
    client = MongoClient(uri, maxPoolSize=7, connectTimeoutMS=1500, appName="mine", tz_aware=True)
    text = repr(client)
    assert text.startswith("MongoClient(host=['") and "document_class=dict" in text and "tz_aware=True" in text
    again = eval(text, {"MongoClient": MongoClient})
    assert again == client and repr(again) == text
    assert "maxpoolsize=7" in text and "connecttimeoutms=1500" in text and "appname='mine'" in text
    assert repr(client.db) == f"Database({text}, 'db')"
    assert repr(client.db.c.d) == f"Collection({repr(client.db)}, 'c.d')"


def test_equality_and_hash(uri):
    one, other = MongoClient(uri), MongoClient(uri, maxPoolSize=3)
    elsewhere = MongoClient("mongodb://localhost:1/")
    assert one == other and hash(one) == hash(other) and one != elsewhere and one != 3
    assert len({one, other, elsewhere}) == 2
    assert one.db == other.db and hash(one.db) == hash(other.db) and one.db != one.bd != elsewhere.bd
    assert one.db.c == other.db.c and hash(one.db.c) == hash(other.db.c) and one.db.c != one.db.d
    assert one.db.c.with_options(write_concern=WriteConcern(w=0)) == one.db.c
    assert one.db != one.db.c


LOCAL = {
    "client": lambda client: client, "database": lambda client: client.db, "collection": lambda client: client.db.c,
    "cursor": lambda client: client.db.c.find(), "command cursor": lambda client: client.db.c.aggregate([]),
    "session": lambda client: client.start_session(),
}


@pytest.mark.parametrize("kind", LOCAL)
def test_what_belongs_to_a_client_stays_in_its_process(client, kind):
    made = LOCAL[kind](client)
    with pytest.raises(TypeError, match=f"a {type(made).__name__} cannot be pickled"):
        pickle.dumps(made)
    if kind != "cursor":
        with pytest.raises(TypeError, match="cannot be"):
            copy.deepcopy(made)


@pytest.mark.parametrize("kind", ["client", "database", "collection"])
def test_handles_are_no_iterables(client, kind):
    made = LOCAL[kind](client)
    with pytest.raises(TypeError, match="not iterable"):
        iter(made)
    with pytest.raises(TypeError, match="not iterable"):
        next(made)


def test_copies_of_handles_work(client, ten):
    assert copy.copy(client)[ten].t.find_one({"_id": 1})["x"] == 1
    assert copy.copy(client[ten].t).find_one({"_id": 1})["x"] == 1
    assert copy.copy(client[ten]).t.find_one({"_id": 1})["x"] == 1
    assert next(copy.deepcopy(client[ten].t.find({"_id": 2})))["x"] == 2
    assert next(copy.copy(client[ten].t.find({"_id": 2})))["x"] == 2


def test_a_copied_cursor_shares_no_filter(client, ten):
    query = {"_id": {"$in": [1]}}
    cursor = client[ten].t.find(query)
    copied = copy.deepcopy(cursor)
    query["_id"]["$in"].append(2)
    assert len(list(copied)) == 1
    assert len(list(cursor)) == 2


def test_results_and_errors_can_be_pickled(client, ten):
    with pytest.raises(geomongo.errors.DuplicateKeyError) as raised:
        client[ten].t.insert_one({"_id": 1})
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), again.code, again.details) == (type(raised.value), 11000, raised.value.details)
    assert again.args == raised.value.args


def test_what_the_client_knows(client, uri):
    client.append_metadata(DriverInfo("wrapper", "1.0"))
    host, port = client.address
    assert uri == f"mongodb://{host}:{port}/"
    assert client.is_primary and not client.is_mongos
    assert client.primary == client.address and client.nodes == {client.address}
    assert (client.secondaries, client.arbiters) == (set(), set())
    assert client.topology_description.topology_type_name == "ReplicaSetWithPrimary"
    [stats] = client.pool_stats()
    assert stats.address == client.address and stats.max_size == 100


def test_a_closed_client_is_refused(connect):
    client = connect()
    client.admin.command("ping")
    client.close()
    client.close()
    for call in (lambda: client.admin.command("ping"), lambda: client.address, client.pool_stats,
                 lambda: client.db.t.find_one()):
        with pytest.raises(InvalidOperation, match="Cannot use MongoClient after close"):
            call()


def test_nobody_there(connect):
    port = free_port()
    client = MongoClient(f"mongodb://127.0.0.1:{port}/", serverSelectionTimeoutMS=50)
    with pytest.raises(ServerSelectionTimeoutError, match=f"127.0.0.1:{port}.*Connection refused") as raised:
        client.db.t.find_one()
    assert raised.value.timeout
    assert "Timeout: 0.05s" in str(raised.value)
    client.close()


def test_handles_inherit_options_and_can_have_others(client):
    database = client.get_database("db", read_preference=ReadPreference.SECONDARY, write_concern=WriteConcern(w=1))
    assert database.t.read_preference == ReadPreference.SECONDARY and database.t.write_concern == WriteConcern(w=1)
    assert database["t"].sub.read_preference == ReadPreference.SECONDARY
    assert database.with_options(read_preference=ReadPreference.PRIMARY).t.read_preference == ReadPreference.PRIMARY
    assert client.db.t.read_preference == ReadPreference.PRIMARY
