"""The house rules of docs/architecture.rst hold; tests/architecture_rules.py says how they are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture_rules import LAYERS, Module, check, parse, parse_tree

ROOT = Path(__file__).parent.parent
GEOMONGO = ROOT / "geomongo"


@pytest.fixture(scope="module")
def house() -> list[Module]:
    return parse_tree(GEOMONGO)


def test_the_house_keeps_its_rules(house: list[Module]) -> None:
    assert [str(violation) for violation in check(house)] == []


def test_the_whole_house_is_looked_at(house: list[Module]) -> None:
    names = {module.name for module in house}
    assert "geomongo._version" in names
    assert len(names) == len(list(GEOMONGO.rglob("*.py")))


def test_the_plan_in_the_docs_names_every_part(house: list[Module]) -> None:
    plan = (ROOT / "docs" / "architecture.rst").read_text(encoding="utf-8")
    parts = {module.part for module in house if module.part in LAYERS}
    assert sorted(part for part in parts if part not in plan) == []


def violations(**sources: str) -> list[int]:
    """The rules broken by modules given as ``_net__dial="text"`` for geomongo._net.dial."""
    modules = {name_of(key): text for key, text in sources.items()}
    return [violation.rule for violation in check(parse(modules))]


def name_of(key: str) -> str:
    return "geomongo." + key.replace("__", ".") if key != "init" else "geomongo"


GOOD = {
    "values may use values": dict(results="from geomongo.errors import InvalidOperation"),
    "down by several layers": dict(collection="from geomongo._wire.op_msg import decode"),
    "the room imports pure code": dict(_net__stream="import gevent\nfrom geomongo._wire import framing"),
    "relative": dict(_commands__find="from .._wire import a\nfrom .base import Command", _commands__base=""),
    "inside a package": dict(_sdam__hello="from geomongo._sdam.selection import pick", _sdam__selection=""),
    "types may look up within the public layer": dict(
        collection="import typing as t\nif t.TYPE_CHECKING:\n from geomongo.database import Database",
        database="from geomongo.collection import Collection",
    ),
    "a clock above the pure part": dict(_execution__executor="from geomongo._net import clock"),
    "own private attributes": dict(
        _deployment__pool="class P:\n __slots__ = ('_n',)\n def f(self, other):\n  return other._n + self._m"
    ),
    "private functions at home": dict(errors="def _f(): pass\nclass E:\n def g(self): return _f()"),
    "namedtuples": dict(results="def f(r): return r._replace(a=1)"),
    "the codec's internals at their only importer": dict(
        _bson="from bson import _cbson\nf = _cbson._array_of_documents_to_buffer"
    ),
    "dates that are given": dict(_wire__raw="import datetime\nd = datetime.datetime(2020, 1, 1)"),
    "ids that are given": dict(operations="from bson import ObjectId\ndef f(x): return ObjectId(x)"),
    "lazy exports": dict(init="from importlib import import_module\ndef __getattr__(n): import_module(n)"),
    "asking whether somebody patched": dict(_net__dial="from gevent.monkey import is_module_patched"),
}


@pytest.mark.parametrize("sources", GOOD.values(), ids=GOOD.keys())
def test_good_code_breaks_no_rule(sources: dict[str, str]) -> None:
    assert violations(**sources) == []


BAD = {
    "up": (1, dict(_wire__op_msg="from geomongo._commands import base")),
    "up, relative": (1, dict(_wire__op_msg="from .._net.stream import Stream")),
    "up, by plain import": (1, dict(errors="import geomongo._wire")),
    "up, to the package itself": (1, dict(errors="import geomongo")),
    "up, from the package itself": (1, dict(_net__dial="from geomongo import MongoClient")),
    "up, for types": (1, dict(_sdam__hello="if TYPE_CHECKING:\n from geomongo._net import stream")),
    "the room looks up": (1, dict(_net__stream="from geomongo._deployment import pool")),
    "beside": (1, dict(_wire__op_msg="from geomongo._sdam import hello")),
    "beside, in the second layer": (1, dict(_deployment__pool="from geomongo._commands.find import Find")),
    "up inside the public layer": (1, dict(cursor="from geomongo.collection import Collection")),
    "in a function": (1, dict(errors="def f():\n import os")),
    "in a method": (1, dict(errors="class E:\n def f(self):\n  from os import path")),
    "in disguise": (1, dict(errors="import importlib\ndef f(): importlib.import_module('os')")),
    "in deep disguise": (1, dict(errors="os = __import__('os')")),
    "a circle": (1, dict(errors="from geomongo import results", results="from geomongo import errors")),
    "a circle in a package": (1, dict(_wire__a="from . import b", _wire__b="from geomongo._wire import a")),
    "an unknown module": (1, dict(helpers="")),
    "gevent in pure code": (2, dict(_wire__framing="import gevent")),
    "a socket in values": (2, dict(errors="from socket import timeout")),
    "threads in commands": (2, dict(_commands__find="import threading")),
    "select in the pure part of execution": (2, dict(_execution__retry="import select")),
    "a clock": (2, dict(_sdam__rtt="import time")),
    "a clock by name": (2, dict(_execution__csot="from time import monotonic")),
    "today": (2, dict(_auth__aws="import datetime\nd = datetime.datetime.now(datetime.timezone.utc)")),
    "chance": (2, dict(_sdam__selection="import random")),
    "chance from the system": (2, dict(_auth__scram="import os\nn = os.urandom(16)")),
    "chance by name": (2, dict(_auth__scram="from os import urandom")),
    "a new uuid": (2, dict(_commands__sessions="import uuid\nu = uuid.uuid4()")),
    "a new id": (2, dict(operations="from bson import ObjectId\nx = ObjectId()")),
    "gevent outside the room": (3, dict(_deployment__pool="from gevent.event import Event")),
    "tls outside the room": (3, dict(mongo_client="import ssl")),
    "dns outside the room": (3, dict(_deployment__srv_monitor="import dns.resolver")),
    "patching": (3, dict(_net__dial="from gevent import monkey\nmonkey.patch_all()")),
    "patching by name": (3, dict(_net__dial="from gevent.monkey import patch_socket")),
    "another's attribute": (4, dict(_execution__executor="def f(pool): return pool._idle")),
    "another's attribute, set": (4, dict(_execution__executor="def f(pool): pool._idle = 1")),
    "another's attribute through self": (4, dict(collection="class C:\n def f(self): return self.db._c")),
    "another's private name": (4, dict(_net__dial="from geomongo._wire.op_msg import _decode")),
    "the codec's internals elsewhere": (4, dict(_wire__op_msg="from bson import _cbson")),
    "pymongo": (7, dict(errors="from pymongo.errors import PyMongoError")),
    "pymongo's gridfs": (7, dict(mongo_client="import gridfs")),
}


@pytest.mark.parametrize(("rule", "sources"), BAD.values(), ids=BAD.keys())
def test_bad_code_breaks_its_rule(rule: int, sources: dict[str, str]) -> None:
    assert violations(**sources) == [rule]


def test_a_violation_says_where_and_what() -> None:
    (found,) = check(parse({"geomongo.errors": "\nimport socket\n"}))
    assert str(found) == "rule 2: geomongo.errors, line 2: imports socket; only geomongo._net may"
