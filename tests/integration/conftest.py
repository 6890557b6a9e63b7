"""Fixtures of the integration tests: clients that are closed, a fresh database, fail points, recorders and taps."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from geomongo import MongoClient
from tests.integration.watching import Recorder, Tap

_numbers = itertools.count()


@pytest.fixture
def connect(uri: str) -> Iterator[Callable[..., MongoClient[Any]]]:
    """Makes clients of the server, with options; they are closed when the test is over."""
    clients: list[MongoClient[Any]] = []

    def make(to: str = uri, **options: Any) -> MongoClient[Any]:
        clients.append(MongoClient(to, serverSelectionTimeoutMS=10_000, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def recorder() -> Recorder:
    """A listener; `client` has it."""
    return Recorder()


@pytest.fixture
def client(connect: Callable[..., MongoClient[Any]], recorder: Recorder) -> MongoClient[Any]:
    """A client whose commands `recorder` keeps."""
    return connect(event_listeners=[recorder])


@pytest.fixture(scope="session")
def aside(uri: str) -> Iterator[MongoClient[Any]]:
    """A client for what is no part of a test: preparing, looking, fail points."""
    with MongoClient(uri, serverSelectionTimeoutMS=10_000) as client:
        yield client


@pytest.fixture
def name(aside: MongoClient[Any]) -> Iterator[str]:
    """Name of a database of the test's own: what the server still does for another one does not reach it."""
    database = f"geomongo_test_{next(_numbers)}"
    aside.drop_database(database)
    yield database
    aside.drop_database(database)


@pytest.fixture
def ten(aside: MongoClient[Any], name: str) -> str:
    """Name of a database whose collection `t` has ten documents."""
    aside[name].t.insert_many([{"_id": number, "x": number} for number in range(10)])
    return name


@pytest.fixture
def tap(uri: str) -> Iterator[Tap]:
    """A tap in front of the server."""
    with Tap(uri) as tap:
        yield tap


@pytest.fixture
def tapped(tap: Tap, connect: Callable[..., MongoClient[Any]]) -> MongoClient[Any]:
    """A client that goes through `tap`."""
    return connect(tap.uri)


FailPoint = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def fail(aside: MongoClient[Any]) -> FailPoint:
    """`with fail("find", times=1, closeConnection=True):` makes commands fail."""

    @contextmanager
    def failing(*commands: str, times: int | None = 1, **data: Any) -> Iterator[None]:
        mode: Any = "alwaysOn" if times is None else {"times": times}
        aside.admin.command({"configureFailPoint": "failCommand", "mode": mode,
                             "data": {"failCommands": list(commands), **data}})
        try:
            yield
        finally:
            aside.admin.command({"configureFailPoint": "failCommand", "mode": "off"})

    return failing
