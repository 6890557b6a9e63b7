"""The public API beside PyMongo's, by introspection: names, signatures, defaults, and a list of what is missing."""
from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

# What PyMongo has and geomongo does not yet, by module; a class's members as Class.member. Every name must be true:
# one that has come is to be taken off the list.
CHANGE_STREAMS, TRANSACTIONS, BULK, SEARCH, SELECTION, TIMEOUT, ASYNC = (
    "change streams", "transactions", "client bulk write", "search indexes",
    "part of server selection, which is private in geomongo",
    "client-side operations timeout", "asynchronous API: geomongo is synchronous")
MISSING: dict[str, dict[str, str]] = {
    "pymongo": {"AsyncMongoClient": ASYNC, "timeout": TIMEOUT},
    "pymongo.mongo_client": {"MongoClient.watch": CHANGE_STREAMS, "MongoClient.bulk_write": BULK},
    "pymongo.database": {"Database.watch": CHANGE_STREAMS},
    "pymongo.collection": {
        "Collection.watch": CHANGE_STREAMS, "Collection.create_search_index": SEARCH,
        "Collection.create_search_indexes": SEARCH, "Collection.drop_search_index": SEARCH,
        "Collection.list_search_indexes": SEARCH, "Collection.update_search_index": SEARCH},
    "pymongo.read_preferences": {"MovingAverage": SELECTION},
    "pymongo.topology_description": {
        "updated_topology_description": SELECTION, **{f"TopologyDescription.{name}": SELECTION for name in (
            "apply_selector", "candidate_servers", "reset", "reset_server", "srv_max_hosts")}},
    "pymongo.client_session": {
        "ClientSession.abort_transaction": TRANSACTIONS, "ClientSession.bind": TRANSACTIONS,
        "ClientSession.commit_transaction": TRANSACTIONS, "ClientSession.start_transaction": TRANSACTIONS,
        "ClientSession.with_transaction": TRANSACTIONS},
}
MODULES = [
    "pymongo", "pymongo.client_session", "pymongo.collation", "pymongo.collection", "pymongo.command_cursor",
    "pymongo.cursor", "pymongo.database", "pymongo.driver_info", "pymongo.errors", "pymongo.event_loggers",
    "pymongo.mongo_client", "pymongo.monitoring", "pymongo.operations", "pymongo.read_concern",
    "pymongo.read_preferences", "pymongo.results", "pymongo.server_api", "pymongo.server_description",
    "pymongo.topology_description", "pymongo.uri_parser", "pymongo.write_concern"]
# Constructors that only the driver itself calls.
INTERNAL = {"ClientSession.__init__", "ServerDescription.__init__", "ServerDescriptionChangedEvent.__init__",
            "TopologyDescription.__init__", "TopologyDescriptionChangedEvent.__init__"}


def public_names(module: Any) -> list[str]:
    """What a module offers: its __all__, or what it defines itself."""
    if hasattr(module, "__all__"):
        return sorted(set(module.__all__))
    own = module.__name__.rpartition(".")[2]
    homes = {f"pymongo.{own}", f"pymongo.synchronous.{own}", f"pymongo.{own}_shared"}
    return sorted(name for name, value in vars(module).items() if not name.startswith("_")
                  and getattr(value, "__module__", "") in homes
                  and (inspect.isclass(value) or inspect.isfunction(value)))


def members(kind: type) -> list[str]:
    """Public methods and properties of a class, and its constructor."""
    names = {name for name in dir(kind) if not name.startswith("_")} | {"__init__"}
    return sorted(name for name in names if callable(getattr(kind, name)) or isinstance(
        inspect.getattr_static(kind, name), property))


def parameters(function: Any) -> list[tuple[str, Any, Any]] | None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [(parameter.name, parameter.kind, parameter.default) for parameter in signature.parameters.values()]


def missing_from(theirs: Any, ours: Any, name: str) -> list[str]:
    if not hasattr(ours, name):
        return [name]
    left, right = getattr(theirs, name), getattr(ours, name)
    if not inspect.isclass(left) or theirs.__name__ == "pymongo":
        return []  # a class is compared in the module that it belongs to
    return [f"{name}.{member}" for member in members(left) if not hasattr(right, member)]


def differing_from(theirs: Any, ours: Any, name: str) -> list[str]:
    """Signatures that differ; geomongo may have further parameters at the end."""
    left, right = getattr(theirs, name), getattr(ours, name, None)
    if right is None:
        return []
    pairs = [(name, left, right)]
    if inspect.isclass(left):
        pairs = [(f"{name}.{member}", getattr(left, member), getattr(right, member)) for member in members(left)
                 if hasattr(right, member)]
    differing = []
    for label, one, other in pairs:
        wanted = parameters(one)
        found = parameters(other)
        if label in INTERNAL or wanted is None or found is None:
            continue
        if [entry[:2] for entry in wanted] != [entry[:2] for entry in found[:len(wanted)]]:
            differing.append(f"{label}: {inspect.signature(other)} where PyMongo has {inspect.signature(one)}")
        elif not same_defaults(wanted, found):
            differing.append(f"{label}: defaults {inspect.signature(other)} where PyMongo has {inspect.signature(one)}")
    return differing


def same_defaults(wanted: list[Any], found: list[Any]) -> bool:
    plain = (bool, int, float, str, type(None), type)
    return all(left[2] == right[2] for left, right in zip(wanted, found) if isinstance(left[2], plain)
               and left[2] is not inspect.Parameter.empty or left[2] is inspect.Parameter.empty)


@pytest.fixture(params=MODULES)
def modules(request: pytest.FixtureRequest) -> tuple[str, Any, Any]:
    name: str = request.param
    return name, importlib.import_module(name), importlib.import_module(name.replace("pymongo", "geomongo", 1))


def test_nothing_is_missing_but_what_the_list_says(modules: tuple[str, Any, Any]) -> None:
    name, theirs, ours = modules
    missing = [entry for public in public_names(theirs) for entry in missing_from(theirs, ours, public)]
    assert sorted(missing) == sorted(MISSING.get(name, {}))


def test_signatures_are_pymongos(modules: tuple[str, Any, Any]) -> None:
    _, theirs, ours = modules
    assert [entry for public in public_names(theirs) for entry in differing_from(theirs, ours, public)] == []


def test_every_module_of_the_list_is_compared() -> None:
    assert set(MISSING) <= set(MODULES)
