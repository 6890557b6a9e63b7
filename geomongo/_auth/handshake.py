"""The conversation that opens a connection.

Source: specifications/source/mongodb-handshake/handshake.md, "Connection handshake".
"""
from __future__ import annotations

from typing import Any, Generator, Mapping, NamedTuple, Optional

from geomongo.errors import ProtocolError

Reply = Mapping[str, Any]


class Step(NamedTuple):
    """A command for the database; `legacy` says that it goes out as an OP_QUERY."""

    database: str
    document: dict[str, Any]
    legacy: bool


Conversation = Generator[Step, Reply, Reply]


class Introduction(NamedTuple):
    """What a client says of itself on every new connection."""

    metadata: Mapping[str, Any]
    server_api: Optional[Mapping[str, Any]]
    load_balanced: bool


def hello_document(introduction: Introduction) -> dict[str, Any]:
    """The first command of a connection."""
    if introduction.server_api is not None or introduction.load_balanced:
        document: dict[str, Any] = {"hello": 1, **(introduction.server_api or {})}
    else:
        document = {"ismaster": 1}
    document["helloOk"] = True
    if introduction.load_balanced:
        document["loadBalanced"] = True
    document["client"] = introduction.metadata
    return document


def handshake(introduction: Introduction) -> Conversation:
    """Introduce the client; returns the hello reply. Compression and authentication join here."""
    document = hello_document(introduction)
    reply = yield Step("admin", document, legacy="ismaster" in document)
    if reply.get("ok") != 1:
        raise ProtocolError(f"the server refused the handshake: {reply.get('errmsg', reply)!r} "
                            "is this a MongoDB server of version 4.2 or later?")
    return reply
