"""Cursors and sessions from before a fork: the parent goes on with them, the child is told."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from geomongo import MongoClient
from geomongo.errors import InvalidOperation

pytestmark = pytest.mark.integration


def in_child(call: Callable[[], Any]) -> str:
    """What `call` does in a forked child, as text."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            call()
            outcome = "no error"
        except InvalidOperation as error:
            outcome = str(error)
        except BaseException as error:
            outcome = repr(error)
        os.write(writer, outcome.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        outcome = answers.read()
    os.waitpid(pid, 0)
    return outcome


@pytest.fixture
def client(uri: str) -> Any:
    with MongoClient(uri) as client:
        client.inherited.c.drop()
        client.inherited.c.insert_many([{"_id": number} for number in range(5)])
        yield client


def test_a_cursor(client: MongoClient[Any]) -> None:
    cursor = client.inherited.c.find()
    assert next(cursor) == {"_id": 0}
    assert in_child(lambda: next(cursor)).startswith("a cursor that was opened before a fork")
    assert [document["_id"] for document in cursor] == [1, 2, 3, 4]


def test_a_session_that_was_used(client: MongoClient[Any]) -> None:
    with client.start_session() as session:
        client.inherited.c.find_one({}, session=session)
        told = in_child(lambda: client.inherited.c.find_one({}, session=session))
        assert told.startswith("a session from before a fork")
        assert client.inherited.c.find_one({}, session=session) == {"_id": 0}


def test_a_session_that_was_not_used(client: MongoClient[Any]) -> None:
    with client.start_session() as session:
        told = in_child(lambda: client.inherited.c.find_one({}, session=session))
        assert told.startswith("a session from before a fork")


def test_the_client_itself_works(client: MongoClient[Any]) -> None:
    assert client.inherited.c.find_one() == {"_id": 0}
    assert in_child(lambda: client.inherited.c.find_one()) == "no error"
    assert client.inherited.c.find_one() == {"_id": 0}
