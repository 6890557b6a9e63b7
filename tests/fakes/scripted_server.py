"""A server on loopback that does what a test says: each connection runs a script, a function of its `Peer`.

    def script(peer):
        peer.hello()                        # answer the handshake
        request = peer.request()            # wait for the next message
        peer.send(peer.answer(request)[:7]) # or anything else, byte by byte
        peer.close()

Servers and scripts are greenlets of the test's hub; real sockets lie between them and the driver.
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import bson
import gevent
from gevent import socket
from gevent.event import Event
from gevent.server import StreamServer

HELLO = {"helloOk": True, "isWritablePrimary": True, "ismaster": True, "maxBsonObjectSize": 16777216,
         "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 21,
         "logicalSessionTimeoutMinutes": 30, "ok": 1.0}
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013


class Request(NamedTuple):
    """A message from the driver."""

    request_id: int
    opcode: int
    document: dict[str, Any]

    @property
    def is_hello(self) -> bool:
        """Whether this is the handshake's, or a monitor's, question."""
        return next(iter(self.document)).lower() in ("hello", "ismaster")


class Peer:
    """The server's end of one connection. `received` is every byte so far; `gone` is set once the driver has closed."""

    def __init__(self, sock: Any, number: int) -> None:
        self.sock = sock
        self.number = number
        self.received = b""
        self.gone = Event()
        self.arrived = Event()

    def request(self) -> Request:
        """The next message. Raises EOFError once the driver has closed the connection."""
        header = self._exactly(16)
        length, request_id, _, opcode = struct.unpack("<iiii", header)
        rest = self._exactly(length - 16)
        self.arrived.set()
        # OP_QUERY: flags, "admin.$cmd", numbers to skip and return; OP_MSG: flags and the kind of the first section
        start = 4 + len("admin.$cmd") + 1 + 8 if opcode == OP_QUERY else 5
        size = struct.unpack_from("<i", rest, start)[0]
        return Request(request_id, opcode, bson.decode(rest[start:start + size]))

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                piece = self.sock.recv(size - len(data))
            except OSError:
                piece = b""
            if not piece:
                self.gone.set()
                raise EOFError
            data += piece
            self.received += piece
        return data

    def answer(self, request: Request, document: dict[str, Any] | None = None, **header: int) -> bytes:
        """The encoded reply to `request`; `header` may say `length`, `response_to` or `opcode` wrongly."""
        body = bson.encode({"ok": 1.0} if document is None else document)
        if request.opcode == OP_QUERY:
            content, opcode = struct.pack("<iqii", 8, 0, 0, 1) + body, OP_REPLY
        else:
            content, opcode = struct.pack("<IB", 0, 0) + body, OP_MSG
        return struct.pack("<iiii", header.get("length", 16 + len(content)), 1,
                           header.get("response_to", request.request_id), header.get("opcode", opcode)) + content

    def reply(self, request: Request, document: dict[str, Any] | None = None) -> None:
        """Answer `request`; a hello by saying what this server is."""
        self.send(self.answer(request, HELLO if document is None and request.is_hello else document))

    def hello(self) -> None:
        """Answer the handshake."""
        self.reply(self.request())

    def send(self, data: bytes) -> None:
        """Send all of `data`, unless the driver has gone."""
        try:
            self.sock.sendall(data)
        except OSError:
            self.gone.set()

    def send_bytewise(self, data: bytes) -> None:
        """Send `data` in as many packets as it has bytes, with a turn of the hub between them."""
        for position in range(len(data)):
            self.send(data[position:position + 1])
            gevent.sleep(0)

    def wait_gone(self) -> None:
        """Wait for the driver to close the connection; what it still sends is kept."""
        try:
            while True:
                self._exactly(1)
        except EOFError:
            return

    def close(self) -> None:
        """Close this end."""
        self.sock.close()


def obliging(peer: Peer) -> None:
    """Answer everything at once."""
    while True:
        peer.reply(peer.request())


Script = Callable[[Peer], None]


class ScriptedServer:
    """Runs `script` for each connection, from `with` to its end. `peers` are the connections so far."""

    def __init__(self, script: Script = obliging, host: str = "127.0.0.1", path: str | None = None) -> None:
        self.script = script
        self.peers: list[Peer] = []
        self.failures: list[BaseException] = []
        if path is not None:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(path)
            listener.listen(128)
            self.address: tuple[str, int | None] = (path, None)
        else:
            listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
            listener.bind((host, 0))
            listener.listen(512)
            self.address = (host, listener.getsockname()[1])
        self._server = StreamServer(listener, self._run)

    def _run(self, sock: Any, _address: Any) -> None:
        peer = Peer(sock, len(self.peers))
        self.peers.append(peer)
        try:
            self.script(peer)
        except EOFError:
            peer.close()
        except Exception as error:
            self.failures.append(error)
            peer.close()

    @property
    def name(self) -> str:
        """host:port, as errors show it."""
        return f"{self.address[0]}:{self.address[1]}"

    @property
    def open_peers(self) -> list[Peer]:
        """Connections that neither side has closed."""
        return [peer for peer in self.peers if not peer.gone.is_set() and not peer.sock.closed]

    def __enter__(self) -> ScriptedServer:
        self._server.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.stop()
        for peer in self.peers:
            peer.close()
        assert not self.failures, self.failures
