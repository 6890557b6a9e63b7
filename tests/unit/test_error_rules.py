"""Which reply becomes which exception, and what the predicates say about it."""
import pymongo.helpers_shared as oracle
import pytest

from geomongo import error_rules as rules
from geomongo import errors

REPLIES = [
    {"ok": 1},
    {"ok": 1.0, "cursor": {}},
    {"ok": 0, "errmsg": "e"},
    {"ok": 0, "errmsg": "e", "code": 5, "errorLabels": ["x"]},
    {"ok": 0, "errmsg": "", "code": None},
    {"ok": 0, "errmsg": "not master", "code": 10107},
    {"ok": 0, "errmsg": "not master"},
    {"ok": 0, "errmsg": "not master", "code": 1},
    {"ok": 0, "errmsg": "not master or secondary"},
    {"ok": 0, "errmsg": "node is recovering"},
    {"ok": 0, "errmsg": "z", "code": 13, "writeConcernError": {"code": 91, "errmsg": "w"}},
    {"ok": 1, "writeConcernError": {"code": 91, "errmsg": "w"}},
    {"ok": 1, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "d"}]},
    {"ok": 0, "raw": {"s": {"errmsg": "deep", "code": 7}}, "errmsg": "top", "code": 9},
] + [{"ok": 0, "errmsg": "e", "code": code} for code in (
    11600, 11602, 10058, 13435, 13436, 189, 91, 11000, 11001, 12582, 50, 43, 59, 64, 8000, 112, 262, 26)]


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except Exception as error:
        labels = sorted(getattr(error, "_error_labels", ()))
        return type(error).__name__, str(error), getattr(error, "code", None), error.details, labels


def without_empty_message(result):
    """An empty message says nothing: geomongo names the lack instead."""
    return str(result).replace("the server gave no error message, ", ", ")


@pytest.mark.parametrize("reply", REPLIES, ids=repr)
@pytest.mark.parametrize("allowable", [None, [5], ["e"], [10107]], ids=repr)
def test_reply_raises_what_pymongo_raises(reply, allowable):
    ours = outcome(rules.raise_for_reply, reply, 17, allowable)
    theirs = outcome(oracle._check_command_response, reply, 17, allowable)
    assert without_empty_message(ours) == str(theirs)


WRITE_REPLIES = [
    {},
    {"writeErrors": []},
    {"writeErrors": [{"index": 0, "code": 11000, "errmsg": "d"}]},
    {"writeErrors": [{"code": 11000, "errmsg": "d"}, {"code": 121, "errmsg": "last"}],
     "writeConcernError": {"code": 64, "errmsg": "w"}},
    {"writeConcernError": {"code": 64, "errmsg": "w"}, "errorLabels": ["x"]},
    {"writeConcernError": {"code": 64, "errmsg": "w", "errInfo": {"wtimeout": True}}},
    {"writeConcernError": {"code": 91, "errmsg": "w"}},
]


@pytest.mark.parametrize("reply", WRITE_REPLIES, ids=repr)
def test_write_reply_raises_what_pymongo_raises(reply):
    assert outcome(rules.raise_for_write_reply, reply) == outcome(oracle._check_write_command_response, reply)
    assert rules.write_concern_error(reply) == oracle._get_wce_doc(reply)


@pytest.mark.parametrize("reply, message", [
    ({}, "the server gave no error message"),
    ({"ok": 0, "$err": "old", "code": 4}, "old"),
    ({"ok": 0, "raw": {"s1": {}, "s2": {"errmsg": "deep", "code": 7}}}, "deep"),
])
def test_odd_replies_still_name_a_reason(reply, message):
    with pytest.raises(errors.OperationFailure) as caught:
        rules.raise_for_reply(reply, None)
    assert str(caught.value) == f"{message}, full error: {reply}"


def failure(code, **more):
    return outcome_error({"ok": 0, "errmsg": "e", "code": code, **more})


def outcome_error(reply):
    with pytest.raises(errors.PyMongoError) as caught:
        rules.raise_for_reply(reply, 25)
    return caught.value


PREDICATES = ("is_state_change", "is_not_primary", "is_node_recovering", "is_shutdown", "is_network_error",
              "is_network_timeout", "is_timeout", "is_retryable_read", "is_retryable_write",
              "is_auto_reconnect",
              "is_reauthentication_required", "is_namespace_not_found", "is_namespace_exists",
              "is_command_not_found", "needs_transient_transaction_label")


@pytest.mark.parametrize("error, true", [
    (failure(10107), "state_change not_primary retryable_read auto_reconnect"),
    (failure(10058), "state_change not_primary retryable_read auto_reconnect"),
    (failure(189), "state_change node_recovering retryable_read auto_reconnect"),
    (failure(91), "state_change node_recovering shutdown retryable_read auto_reconnect"),
    (outcome_error({"ok": 0, "errmsg": "not master"}),
     "state_change not_primary retryable_read auto_reconnect"),
    (failure(134), "retryable_read"),
    (failure(262), "retryable_read"),
    (failure(50), "timeout"),
    (failure(391), "reauthentication_required"),
    (failure(26), "namespace_not_found"),
    (failure(48), "namespace_exists"),
    (failure(59), "command_not_found"),
    (errors.OperationFailure("ns not found"), "namespace_not_found"),
    (failure(13, errorLabels=["RetryableWriteError"]), "retryable_write"),
    (errors.AutoReconnect("x"),
     "network_error retryable_read auto_reconnect needs_transient_transaction_label"),
    (errors.ConnectionFailure("x"), "network_error retryable_read needs_transient_transaction_label"),
    (errors.NetworkTimeout("x"), "network_error network_timeout timeout retryable_read auto_reconnect"
                                 " needs_transient_transaction_label"),
    (errors.ServerSelectionTimeoutError("x"), "timeout auto_reconnect needs_transient_transaction_label"),
    (errors.WaitQueueTimeoutError("x"), "timeout"),
    (errors.InvalidOperation("x"), ""),
    (ValueError("x"), ""),
], ids=repr)
def test_predicates(error, true):
    found = [name for name in PREDICATES if getattr(rules, name)(error)]
    expected = true.split()
    assert found == [name for name in PREDICATES if name.removeprefix("is_") in expected]


@pytest.mark.parametrize("error, wire, mongos, needed", [
    (errors.AutoReconnect("x"), 25, False, True),
    (errors.AutoReconnect("x"), None, True, True),
    (failure(91), 25, False, False),
    (failure(91), 8, False, True),
    (failure(11602), None, False, True),
    (failure(134), 8, False, False),
    (errors.WriteConcernError("x", 91, {}), 8, False, True),
    (errors.WriteConcernError("x", 91, {}), 8, True, False),
    (errors.WriteConcernError("x", 91, {}), 9, False, False),
    (errors.WaitQueueTimeoutError("x"), 8, False, False),
], ids=repr)
def test_who_labels_retryable_writes(error, wire, mongos, needed):
    assert rules.needs_retryable_write_label(error, wire, mongos) is needed


def test_code_sets_agree_with_pymongo():
    assert rules.STATE_CHANGE_CODES == oracle._NOT_PRIMARY_CODES
    assert rules.SHUTDOWN_CODES == oracle._SHUTDOWN_CODES
    assert rules.RETRYABLE_CODES == oracle._RETRYABLE_ERROR_CODES - {10058}
