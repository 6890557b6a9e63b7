"""Events, listeners and loggers have PyMongo's shape."""
import copy
import datetime
import inspect
import logging
from types import SimpleNamespace

import bson
import pymongo.event_loggers
import pymongo.monitoring
import pytest

from geomongo import event_loggers, monitoring

SECOND = datetime.timedelta(seconds=1, microseconds=7)
HOST, ID = ("h", 1), bson.ObjectId("0" * 24)
SASL = {"saslStart": 1, "payload": b"secret"}
HELLO = {"hello": 1, "speculativeAuthenticate": {"p": b"secret"}}
CASES = [
    ("CommandStartedEvent", ({"find": "c", "$db": "x"}, "db", 1, HOST, 2)),
    ("CommandStartedEvent", ({"find": "c"}, "db", 1, HOST, None, ID, 5)),
    ("CommandStartedEvent", (SASL, "db", 1, HOST, 2)),
    ("CommandStartedEvent", ({"SASLSTART": 1, "payload": b"secret"}, "db", 1, HOST, 2)),
    ("CommandStartedEvent", (HELLO, "db", 1, HOST, 2)),
    ("CommandStartedEvent", ({"isMaster": 1, "speculativeAuthenticate": {}}, "db", 1, HOST, 2)),
    ("CommandStartedEvent", ({"hello": 1}, "db", 1, HOST, 2)),
    ("CommandStartedEvent", ({}, "db", 1, HOST, 2)),
    ("CommandSucceededEvent", (SECOND, {"ok": 1}, "find", 1, HOST, 2)),
    ("CommandSucceededEvent", (SECOND, {"ok": 1}, "find", 1, HOST, 2, ID, "db", 4)),
    ("CommandSucceededEvent", (SECOND, {"payload": b"secret"}, "saslContinue", 1, HOST, 2)),
    ("CommandSucceededEvent", (SECOND, {"speculativeAuthenticate": 3}, "hello", 1, HOST, 2)),
    ("CommandFailedEvent", (SECOND, {"ok": 0, "errmsg": "e"}, "find", 1, HOST, 2, ID, "db", 4)),
    ("CommandFailedEvent", (SECOND, {"ok": 0, "code": 18}, "saslStart", 1, HOST, 2)),
    ("PoolCreatedEvent", (HOST, {"maxPoolSize": 1})),
    ("PoolReadyEvent", (HOST,)),
    ("PoolClearedEvent", (HOST,)),
    ("PoolClearedEvent", (HOST, ID, True)),
    ("PoolClosedEvent", (HOST,)),
    ("ConnectionCreatedEvent", (HOST, 3)),
    ("ConnectionReadyEvent", (HOST, 3, 0.5)),
    ("ConnectionClosedEvent", (HOST, 3, "idle")),
    ("ConnectionCheckOutStartedEvent", (HOST,)),
    ("ConnectionCheckOutFailedEvent", (HOST, "timeout", 0.5)),
    ("ConnectionCheckedOutEvent", (HOST, 3, 0.5)),
    ("ConnectionCheckedInEvent", (HOST, 3)),
    ("ServerOpeningEvent", (HOST, ID)),
    ("ServerClosedEvent", (HOST, ID)),
    ("ServerDescriptionChangedEvent", ("p", "n", HOST, ID)),
    ("TopologyOpenedEvent", (ID,)),
    ("TopologyClosedEvent", (ID,)),
    ("TopologyDescriptionChangedEvent", ("p", "n", ID)),
    ("ServerHeartbeatStartedEvent", (HOST,)),
    ("ServerHeartbeatStartedEvent", (HOST, True)),
    ("ServerHeartbeatSucceededEvent", (0.5, {"ok": 1}, HOST)),
    ("ServerHeartbeatFailedEvent", (0.5, ValueError("x"), HOST, True)),
]


def facts(module, name, arguments):
    """All public attributes of an event and its repr; or the type of what its constructor raised."""
    try:
        event = getattr(module, name)(*arguments)
    except Exception as error:
        return type(error).__name__
    return {"repr": repr(event), "copy": repr(copy.copy(event)), "open": hasattr(event, "__dict__"),
            **{attribute: getattr(event, attribute) for attribute in dir(event) if attribute[0] != "_"}}


@pytest.mark.parametrize("name, arguments", CASES)
def test_events_tell_what_pymongos_tell(name, arguments):
    assert facts(monitoring, name, arguments) == facts(pymongo.monitoring, name, arguments)


def test_every_event_is_in_the_table():
    events = {name for name in dir(pymongo.monitoring) if name.endswith("Event") and name[0] != "_"}
    assert events - {"TopologyEvent"} == {name for name, _ in CASES}


@pytest.mark.parametrize("module, oracle", [
    (monitoring, pymongo.monitoring), (event_loggers, pymongo.event_loggers)], ids=["monitoring", "loggers"])
def test_same_classes_and_methods_as_pymongo(module, oracle):
    def shape(where):
        return {name: {m for m in dir(value) if m[0] != "_"} for name, value in vars(where).items()
                if inspect.isclass(value) and name[0] != "_" and value.__module__ == oracle.__name__}
    for name, methods in shape(oracle).items():
        assert methods == {m for m in dir(getattr(module, name)) if m[0] != "_"}, name


def test_durations_may_be_microseconds():
    assert monitoring.CommandSucceededEvent(12, {}, "find", 1, HOST, None).duration_micros == 12


@pytest.mark.parametrize("name, document, seen", [
    ("find", {"find": "c"}, {"find": "c"}),
    ("saslStart", SASL, {}),
    ("hello", HELLO, {}),
    ("ping", {"ping": 1, "speculativeAuthenticate": 1}, {"ping": 1, "speculativeAuthenticate": 1}),
])
def test_redacted(name, document, seen):
    assert monitoring.redacted(name, document) == seen


def test_failures_of_sensitive_commands_keep_no_message():
    failure = {"ok": 0, "code": 18, "errmsg": "secret", "codeName": "AuthenticationFailed"}
    assert monitoring.redacted_failure("find", failure) is failure
    assert monitoring.redacted_failure("saslStart", failure) \
        == {"ok": 0, "code": 18, "codeName": "AuthenticationFailed"}


@pytest.mark.parametrize("wrong", [3, [3], [monitoring.CommandListener], None, monitoring.CommandListener()])
def test_wrong_listeners_are_refused(wrong):
    with pytest.raises(TypeError, match="event_listeners"):
        monitoring.validate_event_listeners("event_listeners", wrong)


def test_listeners_are_grouped_by_kind():
    class Both(monitoring.CommandListener, monitoring.ServerListener):
        pass
    both, pool = Both(), monitoring.ConnectionPoolListener()
    groups = monitoring.group_listeners([both, pool])
    assert groups == ((both,), (pool,), (both,), None, None)


def test_register(monkeypatch):
    monkeypatch.setattr(monitoring, "_registered", [])
    listener = monitoring.CommandListener()
    monitoring.register(listener)
    assert monitoring.registered_listeners() == (listener,)
    with pytest.raises(TypeError):
        monitoring.register(monitoring.CommandListener)


@pytest.mark.parametrize("kind", [
    monitoring.CommandListener, monitoring.ServerListener, monitoring.ConnectionPoolListener,
    monitoring.ServerHeartbeatListener, monitoring.TopologyListener])
def test_a_listener_must_implement_its_methods(kind):
    for name in [name for name in vars(kind) if name[0] != "_"]:
        with pytest.raises(NotImplementedError):
            getattr(kind(), name)(None)


def description(kind, usable):
    return SimpleNamespace(server_type=kind, server_type_name=kind, topology_type=kind,
                           topology_type_name=kind,
                           has_writable_server=lambda: usable, has_readable_server=lambda: usable)


BEFORE, AFTER = description("A", True), description("B", False)
LOGGED = [
    ("CommandLogger", "started", CASES[0]),
    ("CommandLogger", "succeeded", CASES[8]),
    ("CommandLogger", "failed", CASES[12]),
    ("ServerLogger", "opened", ("ServerOpeningEvent", (HOST, ID))),
    ("ServerLogger", "description_changed", ("ServerDescriptionChangedEvent", (BEFORE, AFTER, HOST, ID))),
    ("ServerLogger", "description_changed", ("ServerDescriptionChangedEvent", (AFTER, AFTER, HOST, ID))),
    ("ServerLogger", "closed", ("ServerClosedEvent", (HOST, ID))),
    ("TopologyLogger", "opened", ("TopologyOpenedEvent", (ID,))),
    ("TopologyLogger", "description_changed", ("TopologyDescriptionChangedEvent", (BEFORE, AFTER, ID))),
    ("TopologyLogger", "description_changed", ("TopologyDescriptionChangedEvent", (BEFORE, BEFORE, ID))),
    ("TopologyLogger", "closed", ("TopologyClosedEvent", (ID,))),
    ("HeartbeatLogger", "started", ("ServerHeartbeatStartedEvent", (HOST,))),
    ("HeartbeatLogger", "succeeded",
     ("ServerHeartbeatSucceededEvent", (0.5, SimpleNamespace(document={"ok": 1}), HOST))),
    ("HeartbeatLogger", "failed", ("ServerHeartbeatFailedEvent", (0.5, ValueError("x"), HOST))),
    ("ConnectionPoolLogger", "pool_created", ("PoolCreatedEvent", (HOST, {}))),
    ("ConnectionPoolLogger", "pool_ready", ("PoolReadyEvent", (HOST,))),
    ("ConnectionPoolLogger", "pool_cleared", ("PoolClearedEvent", (HOST,))),
    ("ConnectionPoolLogger", "pool_closed", ("PoolClosedEvent", (HOST,))),
    ("ConnectionPoolLogger", "connection_created", ("ConnectionCreatedEvent", (HOST, 3))),
    ("ConnectionPoolLogger", "connection_ready", ("ConnectionReadyEvent", (HOST, 3, 0.5))),
    ("ConnectionPoolLogger", "connection_closed", ("ConnectionClosedEvent", (HOST, 3, "idle"))),
    ("ConnectionPoolLogger", "connection_check_out_started", ("ConnectionCheckOutStartedEvent", (HOST,))),
    ("ConnectionPoolLogger", "connection_check_out_failed",
     ("ConnectionCheckOutFailedEvent", (HOST, "timeout", 0.5))),
    ("ConnectionPoolLogger", "connection_checked_out", ("ConnectionCheckedOutEvent", (HOST, 3, 0.5))),
    ("ConnectionPoolLogger", "connection_checked_in", ("ConnectionCheckedInEvent", (HOST, 3))),
]


@pytest.mark.parametrize("logger, method, event", LOGGED)
def test_loggers_log_as_often_and_as_loud_as_pymongos(logger, method, event, caplog):
    name, arguments = event
    levels = []
    for loggers, events in ((event_loggers, monitoring), (pymongo.event_loggers, pymongo.monitoring)):
        caplog.clear()
        with caplog.at_level(logging.INFO):
            getattr(getattr(loggers, logger)(), method)(getattr(events, name)(*arguments))
        levels.append([record.levelname for record in caplog.records])
        assert all(record.getMessage() for record in caplog.records)
    assert levels[0] == levels[1]
