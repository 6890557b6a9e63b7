"""Command log messages: JSON, one for each event, cut to a length."""
from __future__ import annotations

import decimal
import json
import logging
import uuid

import gevent
import pytest
from bson.codec_options import CodecOptions, TypeCodec, TypeRegistry
from bson.decimal128 import Decimal128

from geomongo._execution.log_text import as_json, shortened
from geomongo.errors import OperationFailure

pytestmark = pytest.mark.integration

COMMON = {"message", "clientId", "commandName", "databaseName", "requestId", "operationId", "serverHost", "serverPort",
          "serverConnectionId"}


@pytest.fixture
def messages(caplog):
    """What was logged, parsed; the logger is on."""
    caplog.set_level(logging.DEBUG, "geomongo.command")
    return lambda: [json.loads(record.getMessage()) for record in caplog.records if record.name == "geomongo.command"]


@pytest.fixture
def client(connect):
    """A client without a listener."""
    return connect()


def test_started_and_succeeded(client, ten, messages):
    client[ten].t.find_one({"_id": 1})
    started, succeeded = messages()
    assert set(started) == COMMON | {"command"} and set(succeeded) == COMMON | {"reply", "durationMS"}
    assert (started["message"], succeeded["message"]) == ("Command started", "Command succeeded")
    for message in (started, succeeded):
        assert (message["commandName"], message["databaseName"]) == ("find", ten)
        assert (message["serverHost"], message["serverPort"]) == client.address
        assert message["requestId"] == started["requestId"] and message["clientId"] == started["clientId"]
        assert message["serverConnectionId"] > 0
    assert json.loads(started["command"])["filter"] == {"_id": 1}
    assert json.loads(succeeded["reply"])["cursor"]["firstBatch"] == [{"_id": 1, "x": 1}]
    assert 0 < succeeded["durationMS"] < 60_000


def test_failed(client, ten, messages, fail):
    with pytest.raises(OperationFailure):
        client[ten].t.find_one({"$foo": 1})
    with fail("find", blockConnection=True, blockTimeMS=1500), pytest.raises(gevent.Timeout), gevent.Timeout(0.02):
        client[ten].t.find_one()
    started, failed, _, abandoned = [message for message in messages() if message["commandName"] == "find"]
    assert set(failed) == COMMON | {"failure", "durationMS"}
    assert failed["message"] == abandoned["message"] == "Command failed"
    assert json.loads(failed["failure"])["code"] == 2
    assert json.loads(abandoned["failure"])["errtype"] == "Timeout"
    assert failed["requestId"] == started["requestId"]


def test_documents_are_cut(client, ten, messages, ticker):
    client[ten].t.insert_many([{"s": "y" * 40, "n": number} for number in range(20_000)])
    client[ten].t.insert_one({"_id": "long", "s": "x" * 5_000_000})
    list(client[ten].t.find({"_id": "long"}))
    for message in messages():
        text = message.get("command") or message.get("reply")
        assert len(text) <= 1003
        assert text.endswith("...") == (len(text) == 1003)
    insert_many, _, insert_one, _, _, find = messages()
    assert all(len(message.get("command", message.get("reply"))) == 1003 for message in (insert_many, insert_one, find))
    assert '"n": 3' in insert_many["command"] and "xxx..." in find["reply"]


def test_secrets_are_not_logged(client, messages, caplog):
    client.admin.command({"saslStart": 1, "payload": "hunter2"}, check=False)
    assert [message.get("command", message.get("reply")) for message in messages()] == ["{}", "{}"]
    assert "hunter2" not in caplog.text


class DecimalCodec(TypeCodec):
    python_type = decimal.Decimal
    bson_type = Decimal128

    def transform_python(self, value):
        return Decimal128(value)

    def transform_bson(self, value):
        return value.to_decimal()


def test_whatever_an_application_stores_can_be_logged(client, ten, messages):
    options = CodecOptions(type_registry=TypeRegistry([DecimalCodec()]), uuid_representation=4)
    collection = client[ten].t.with_options(codec_options=options)
    document = {"_id": uuid.UUID(int=1), "price": decimal.Decimal("1.5"), "nan": float("nan"), "bytes": b"\x00"}
    collection.insert_one(dict(document))
    found = collection.find_one({"_id": document["_id"]})
    assert (found["_id"], found["price"]) == (document["_id"], document["price"])
    assert all("1.5" in message.get("command", "1.5") for message in messages() if message["commandName"] == "insert")
    assert '"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAQ==", "subType": "04"}' in messages()[0]["command"]


def test_two_clients_are_told_apart(client, connect, messages):
    client.admin.command("ping")
    connect().admin.command("ping")
    assert len({message["clientId"]["$oid"] for message in messages()}) == 2


def test_nothing_is_logged_unless_it_is_asked_for(client, caplog):
    client.admin.command("ping")
    assert [record for record in caplog.records if record.name.startswith("geomongo")] == []


class Counted(list):
    """Counts how many of its values were looked at."""

    looked = 0

    def __iter__(self):
        for value in super().__iter__():
            self.looked += 1
            yield value


def test_what_is_cut_off_is_not_even_looked_at():
    values = Counted(range(100_000))
    assert len(shortened({"values": values}, 100)) == 103
    assert values.looked <= 100


@pytest.mark.parametrize("longest", [1, 2, 10, 37, 60, 100, 150, 10_000])
def test_the_text_is_the_begin_of_the_whole(longest):
    document = {"a": "x" * 30, "é": ["yy", {"b": None, "c": [1.5, True]}, b"zz"], "d": {}, "e": "\n" * 9, "f": 1 << 40}
    whole = as_json(document)
    text = shortened(document, longest)
    assert text == whole if longest >= len(whole) else text == whole[:longest] + "..."
