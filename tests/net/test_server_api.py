"""The Stable API: every command says its version, also those of the driver's own."""
from __future__ import annotations

from typing import Any

import pytest

from geomongo import MongoClient
from geomongo.server_api import ServerApi
from tests.fakes.scripted_server import Peer, ScriptedServer

pytestmark = pytest.mark.net


def test_every_command_says_its_version() -> None:
    seen: list[dict[str, Any]] = []

    def script(peer: Peer) -> None:
        while True:
            request = peer.request()
            seen.append(request.document)
            peer.reply(request)

    with ScriptedServer(script) as server:
        client: MongoClient[Any] = MongoClient(f"mongodb://{server.name}/", server_api=ServerApi("1"))
        client.admin.command("ping")
        client.close()
    assert {"hello", "ping", "endSessions"} <= {next(iter(document)) for document in seen}
    assert [document.get("apiVersion") for document in seen] == ["1"] * len(seen)
