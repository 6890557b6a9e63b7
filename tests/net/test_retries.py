"""Second attempts: which replies ask for one, what it carries, and what becomes of the session.

Source: retryable-writes.md, "Determining Retryable Errors"; driver-sessions.md, "Server session pool".
"""
from __future__ import annotations

from typing import Any

import pytest

from geomongo import DeleteMany, InsertOne, MongoClient, UpdateMany
from geomongo.errors import BulkWriteError, WriteConcernError, WriteError
from tests.fakes.scripted_server import HELLO, Peer, Request, ScriptedServer

pytestmark = pytest.mark.net

PRIMARY = {**HELLO, "setName": "rs", "isWritablePrimary": True, "ismaster": True, "secondary": False,
           "logicalSessionTimeoutMinutes": 30, "maxWireVersion": 21}
LABELLED = {"ok": 1.0, "n": 1, "errorLabels": ["RetryableWriteError"],
            "writeConcernError": {"code": 91, "errmsg": "shutdown in progress"}}
UNLABELLED = {"ok": 1.0, "n": 1, "writeConcernError": {"code": 91, "errmsg": "shutdown in progress"}}
STATEMENT = {"ok": 1.0, "n": 0, "writeErrors": [{"index": 0, "code": 11602, "errmsg": "interrupted"}]}
GONE = "gone"


class Primary(ScriptedServer):
    """A replica set of one, which gives `answers` to its first writes and is content after that."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.writes: list[dict[str, Any]] = []
        self.lsids: list[Any] = []
        super().__init__(self.serve)

    def serve(self, peer: Peer) -> None:
        while True:
            request = peer.request()
            if request.is_hello:
                name = self.name
                peer.reply(request, {**PRIMARY, "hosts": [name], "me": name, "primary": name})
            else:
                self.answer_to(peer, request)

    def answer_to(self, peer: Peer, request: Request) -> None:
        if "lsid" in request.document:
            self.lsids.append(request.document["lsid"]["id"])
        if next(iter(request.document)) not in ("insert", "update", "delete"):
            peer.reply(request)
            return
        self.writes.append(request.document)
        answer = self.answers.pop(0) if self.answers else {"ok": 1.0, "n": 1}
        if answer == GONE:
            raise EOFError
        peer.reply(request, answer)


def client_of(server: Primary) -> MongoClient[Any]:
    return MongoClient(f"mongodb://{server.name}/?replicaSet=rs&serverSelectionTimeoutMS=10000")


@pytest.mark.parametrize("answer, attempts, raised", [
    (GONE, 2, None), (LABELLED, 2, None), (UNLABELLED, 1, WriteConcernError), (STATEMENT, 1, WriteError)])
def test_what_a_write_is_retried_for(answer: Any, attempts: int, raised: type[Exception] | None) -> None:
    with Primary(answer) as server:
        client = client_of(server)
        if raised is None:
            client.db.c.insert_one({"_id": 1})
        else:
            with pytest.raises(raised):
                client.db.c.insert_one({"_id": 1})
        assert len(server.writes) == attempts
        assert len({write["txnNumber"] for write in server.writes}) == 1
        client.close()


def test_a_bulk_message_is_retried_once_by_its_label() -> None:
    with Primary(LABELLED, LABELLED) as server:
        client = client_of(server)
        with pytest.raises(BulkWriteError) as caught:
            client.db.c.bulk_write([InsertOne({"_id": 1})])
        assert len(server.writes) == 2
        assert [error["code"] for error in caught.value.details["writeConcernErrors"]] == [91]
        client.close()


def test_a_message_that_may_change_many_documents_has_no_number() -> None:
    with Primary() as server:
        client = client_of(server)
        client.db.c.bulk_write([InsertOne({"_id": 1}), UpdateMany({}, {"$set": {"a": 1}}), InsertOne({"_id": 2}),
                                DeleteMany({})])
        assert [("insert" in write, "txnNumber" in write) for write in server.writes] == [
            (True, True), (False, False), (True, True), (False, False)]
        client.close()


def test_the_session_of_a_broken_attempt_is_dropped_even_if_the_retry_succeeds() -> None:
    with Primary(GONE) as server:
        client = client_of(server)
        client.db.c.insert_one({"_id": 1})
        client.admin.command("ping")
        assert server.lsids[0] == server.lsids[1]
        assert server.lsids[2] != server.lsids[0]
        client.close()
