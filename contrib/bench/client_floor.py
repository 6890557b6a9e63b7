"""The floor: a bare socket on gevent's loop for each greenlet, the C codec, messages packed by hand, no driver.

It sends the same commands as the drivers (with lsid and $clusterTime) and decodes the same replies, each of
them whole. It selects no server, keeps no pool, checks nothing in the replies and watches no deadline.

The socket is the C type of the standard library, waiting on the hub's loop. `gevent.socket` would not be a floor: its
Python layer, and a first recv that finds nothing, cost about 5 us an operation, which a driver can avoid too.
"""

from __future__ import annotations

import _socket
import socket
import struct
import uuid
from collections.abc import Callable
from typing import Any

import bson
from bson.binary import Binary, UuidRepresentation
from bson.objectid import ObjectId
from bson.timestamp import Timestamp
from gevent import get_hub
from operations import CHANGE, HUGE, MANY, QUERY, check_read, new_document

OP_MSG = 2013
HEAD = struct.Struct("<iiiiiB")
LENGTH = struct.Struct("<i")
BODY = HEAD.size
CLUSTER_TIME = {
    "clusterTime": Timestamp(1718000000, 1),
    "signature": {"hash": bytes(20), "keyId": 0},
}


class Wire:
    """One connection: a command goes out, its reply comes back."""

    __slots__ = ("_sock", "_hub", "_readable", "_request_id", "_lsid")

    def __init__(self, port: int) -> None:
        connected = socket.create_connection(("127.0.0.1", port))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = _socket.socket(fileno=connected.detach())
        self._sock.setblocking(False)
        self._hub = get_hub()
        self._readable = self._hub.loop.io(self._sock.fileno(), 1)
        self._request_id = 0
        self._lsid = {"id": Binary.from_uuid(uuid.uuid4(), UuidRepresentation.STANDARD)}

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        command["lsid"] = self._lsid
        command["$clusterTime"] = CLUSTER_TIME
        command["$db"] = "bench"
        body = bson.encode(command)
        self._request_id += 1
        message = HEAD.pack(BODY + len(body), self._request_id, 0, OP_MSG, 0, 0) + body
        if self._sock.send(message) != len(message):
            raise OSError("a small command did not fit into the socket's buffer")
        data = self._receive(65536)
        if len(data) < 4 or LENGTH.unpack_from(data)[0] != len(data):
            return bson.decode(memoryview(self._receive_rest(data))[BODY:])
        return bson.decode(data[BODY:])

    def _receive(self, size: int) -> bytes:
        """Wait for bytes, then take up to `size` of them."""
        self._hub.wait(self._readable)
        return self._sock.recv(size)

    def _receive_rest(self, start: bytes) -> bytearray:
        """The whole message, of which `start` has come."""
        while 0 < len(start) < 4:
            start += self._receive(65536)
        if not start:
            raise EOFError("the stub closed the connection")
        message = bytearray(LENGTH.unpack_from(start)[0])
        view, at = memoryview(message), len(start)
        view[:at] = start
        while at < len(message):
            self._hub.wait(self._readable)
            count = self._sock.recv_into(view[at:])
            if not count:
                raise EOFError("the stub closed the connection inside a reply")
            at += count
        return message

    def close(self) -> None:
        self._readable.close()
        self._sock.close()


class Floor:
    """The same operations, without a driver."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._wires: list[Wire] = []

    def operation(self, name: str) -> Callable[[], Any]:
        """A function that runs operation `name` once on a connection of its own."""
        wire = Wire(self._port)
        self._wires.append(wire)
        return getattr(self, "_" + name)(wire)

    def close(self) -> None:
        for wire in self._wires:
            wire.close()

    def numbers(self, collection: str, batch_size: int) -> list[int]:
        """The field `n` of every document of a collection."""
        wire = Wire(self._port)
        self._wires.append(wire)
        return [document["n"] for document in read_batch(wire, collection, batch_size)]

    def check(self, name: str, result: Any) -> bool:
        """Whether `result` is what operation `name` must return."""
        if name == "find_one":
            return result["n"] == 0 and result["tags"] == ["first", "second"]
        if name == "insert_one":
            return result["n"] == 1
        if name == "update_one":
            return (result["n"], result["nModified"]) == (1, 1)
        return check_read(name, result)

    def _find_one(self, wire: Wire) -> Callable[[], Any]:
        def find_one() -> Any:
            reply = wire.run({"find": "one", "filter": QUERY, "limit": 1, "singleBatch": True})
            return reply["cursor"]["firstBatch"][0]

        return find_one

    def _insert_one(self, wire: Wire) -> Callable[[], Any]:
        def insert_one() -> Any:
            document = {"_id": ObjectId(), **new_document()}
            return wire.run({"insert": "writes", "ordered": True, "documents": [document]})

        return insert_one

    def _update_one(self, wire: Wire) -> Callable[[], Any]:
        def update_one() -> Any:
            update = {"q": QUERY, "u": CHANGE, "multi": False, "upsert": False}
            return wire.run({"update": "writes", "ordered": True, "updates": [update]})

        return update_one

    def _read_1000(self, wire: Wire) -> Callable[[], Any]:
        return self._loop(wire, "many", MANY)

    def _huge_loop(self, wire: Wire) -> Callable[[], Any]:
        return self._loop(wire, "huge", HUGE)

    def _loop(self, wire: Wire, collection: str, batch_size: int) -> Callable[[], Any]:
        def read() -> tuple[int, int]:
            count = 0
            for document in read_batch(wire, collection, batch_size):
                count += 1
            return count, document["n"]

        return read

    def _huge_list(self, wire: Wire) -> Callable[[], Any]:
        def read() -> tuple[int, int]:
            documents = list(read_batch(wire, "huge", HUGE))
            return len(documents), documents[-1]["n"]

        return read


def read_batch(wire: Wire, collection: str, batch_size: int) -> list[dict[str, Any]]:
    """The documents of a collection, in one reply that is decoded whole."""
    reply = wire.run({"find": collection, "filter": {}, "batchSize": batch_size})
    documents: list[dict[str, Any]] = reply["cursor"]["firstBatch"]
    return documents


def connect(port: int) -> Floor:
    return Floor(port)
