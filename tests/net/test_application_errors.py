"""What an operation's error tells the topology: the server is marked Unknown, and its pool cleared, or not.

Source: server-discovery-and-monitoring.md, "Application operations: error handling".
"""
from __future__ import annotations

from typing import Any

import pytest

from geomongo import MongoClient
from geomongo.errors import AutoReconnect, NotPrimaryError, OperationFailure, PyMongoError
from tests.fakes.scripted_server import Peer, ScriptedServer

pytestmark = pytest.mark.net

NOT_PRIMARY = {"ok": 0.0, "code": 10107, "errmsg": "not primary"}
SHUTDOWN = {"ok": 0.0, "code": 11600, "errmsg": "interrupted at shutdown"}
ORDINARY = {"ok": 0.0, "code": 8000, "errmsg": "no"}
UNSATISFIED = {"ok": 1.0, "n": 1, "writeConcernError": {"code": 91, "errmsg": "shutdown in progress"}}
TOO_FEW = {"ok": 1.0, "n": 1, "writeConcernError": {"code": 100, "errmsg": "not enough data-bearing nodes"}}
GONE = None


@pytest.mark.parametrize("reply, raised, unknown, cleared", [
    (GONE, AutoReconnect, True, True),
    (NOT_PRIMARY, NotPrimaryError, True, False),
    (SHUTDOWN, NotPrimaryError, True, True),
    (UNSATISFIED, OperationFailure, True, True),
    (TOO_FEW, OperationFailure, False, False),
    (ORDINARY, OperationFailure, False, False),
])
def test_error(reply: Any, raised: type[PyMongoError], unknown: bool, cleared: bool) -> None:
    def script(peer: Peer) -> None:
        while True:
            request = peer.request()
            if "insert" not in request.document:
                peer.reply(request)
            elif reply is GONE:
                raise EOFError
            else:
                peer.reply(request, reply)

    with ScriptedServer(script) as server:
        client = MongoClient(f"mongodb://{server.name}/?retryWrites=false&serverSelectionTimeoutMS=5000")
        client.admin.command("ping")
        assert client.nodes == {server.address}
        with pytest.raises(raised):
            client.db.c.insert_one({})
        assert (client.nodes == frozenset()) == unknown
        assert client.pool_stats()[0].generation == (1 if cleared else 0)
        assert client.admin.command("ping")["ok"] == 1
        assert client.nodes == {server.address}
        client.close()
