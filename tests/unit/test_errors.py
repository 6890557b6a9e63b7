"""The exceptions behave as PyMongo's do: the same tables run through both."""
import copy
import inspect
import pickle

import pymongo.errors
import pytest

import geomongo.errors
import geomongo.results  # noqa: F401  (gives ClientBulkWriteException its result class)

WTIMEOUT = {"code": 64, "errInfo": {"wtimeout": True}}
CASES = [
    ("PyMongoError", ()),
    ("PyMongoError", ("a", ["label"])),
    ("ProtocolError", ("a",)),
    ("ConnectionFailure", ("a", ["label"])),
    ("WaitQueueTimeoutError", ("a",)),
    ("AutoReconnect", ()),
    ("AutoReconnect", ("a", {"errorLabels": ["label"], "code": 3})),
    ("AutoReconnect", ("a", [1, 2])),
    ("NetworkTimeout", ("a",)),
    ("NotPrimaryError", ()),
    ("NotPrimaryError", ("a", {"errorLabels": ["label"], "code": 3})),
    ("NotPrimaryError", ("a", [1])),
    ("ServerSelectionTimeoutError", ("a", ["x"])),
    ("ConfigurationError", ("a",)),
    ("OperationFailure", ("a",)),
    ("OperationFailure", ("a", 5)),
    ("OperationFailure", ("a", 50)),
    ("OperationFailure", ("a", 5, {"x": 1, "errorLabels": ["label"]}, 17)),
    ("OperationFailure", ("a", 5, {})),
    ("CursorNotFound", ("a", 43, {"x": 1})),
    ("ExecutionTimeout", ("a", 50)),
    ("WriteConcernError", ("a", 64, WTIMEOUT)),
    ("WTimeoutError", ("a", 64, WTIMEOUT)),
    ("WriteError", ("a", 121)),
    ("DuplicateKeyError", ("a", 11000, {"keyPattern": {"x": 1}})),
    ("BulkWriteError", ({},)),
    ("BulkWriteError", ({"writeErrors": [], "writeConcernErrors": [WTIMEOUT]},)),
    ("BulkWriteError", ({"writeErrors": [], "writeConcernErrors": [WTIMEOUT, {"code": 64}]},)),
    ("BulkWriteError", ({"writeErrors": [{"code": 50}], "writeConcernErrors": []},)),
    ("BulkWriteError", ({"writeErrors": [{"code": 11000}], "errorLabels": ["label"]},)),
    ("ClientBulkWriteException", ({}, True)),
    ("ClientBulkWriteException", ({"anySuccessful": True, "nInserted": 2, "error": "e"}, False)),
    ("InvalidOperation", ("a",)),
    ("InvalidName", ("a",)),
    ("CollectionInvalid", ("a",)),
    ("InvalidURI", ("a",)),
    ("DocumentTooLarge", ("a",)),
    ("EncryptionError", (ValueError("a"),)),
    ("EncryptedCollectionError", (ValueError("a"), {"x": 1})),
]
ATTRIBUTES = ("args", "timeout", "code", "details", "errors", "error", "write_errors", "write_concern_errors",
              "verbose", "encrypted_fields")


def facts(error):
    found = {name: getattr(error, name, "absent") for name in ATTRIBUTES}
    found["repr"], found["str"] = repr(error), str(error)
    found["label"] = hasattr(error, "has_error_label") and error.has_error_label("label")
    found["partial_result"] = repr(getattr(error, "partial_result", "absent"))
    found["cause"] = repr(getattr(error, "cause", "absent"))
    return found


@pytest.mark.parametrize("name, arguments", CASES)
def test_same_facts_as_pymongo(name, arguments):
    ours = getattr(geomongo.errors, name)(*arguments)
    theirs = getattr(pymongo.errors, name)(*arguments)
    assert facts(ours) == facts(theirs)


@pytest.mark.parametrize("name, arguments", CASES)
def test_pickle_and_copy_keep_everything(name, arguments):
    error = getattr(geomongo.errors, name)(*arguments)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert facts(again) == facts(error)


def public_classes(module):
    return {name: value for name, value in vars(module).items()
            if inspect.isclass(value) and issubclass(value, Exception) and not name.startswith("_")}


def test_same_tree_as_pymongo():
    def bases(classes):
        return {name: [base.__name__ for base in value.__mro__] for name, value in classes.items()}
    assert bases(public_classes(geomongo.errors)) == bases(public_classes(pymongo.errors))
    assert set(geomongo.errors.__all__) == set(public_classes(geomongo.errors))


@pytest.mark.parametrize("name", sorted(set(name for name, _ in CASES)))
def test_same_parameters_as_pymongo(name):
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (geomongo.errors, pymongo.errors))
    assert [(p.name, p.default, p.kind) for p in ours.parameters.values()] \
        == [(p.name, p.default, p.kind) for p in theirs.parameters.values()]


def test_labels_can_be_added_and_removed():
    error = geomongo.errors.PyMongoError("a")
    error.add_error_label("x")
    error.add_error_label("x")
    assert error.has_error_label("x") and error.error_labels == {"x"}
    error.remove_error_label("x")
    error.remove_error_label("x")
    assert not error.has_error_label("x")


def test_max_wire_version_is_readable():
    assert geomongo.errors.OperationFailure("a", 1, {}, 25).max_wire_version == 25
