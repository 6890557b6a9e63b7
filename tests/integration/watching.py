"""What the integration tests watch with: a listener that keeps events, and a tap that sees every message."""
from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import bson
import gevent
from gevent import socket
from gevent.event import Event

from geomongo.monitoring import CommandListener
from geomongo.uri_parser import parse_uri
from tests.fakes.proxy import Proxy

# Never reached unless something hangs, in seconds.
PATIENCE = 20.0
OP_MSG = 2013


class Watch:
    """Keeps what comes, and lets a test await it."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self._more = Event()

    def add(self, thing: Any) -> None:
        """Something came."""
        self.seen.append(thing)
        self._more.set()

    def wait_for(self, wanted: Callable[[Any], bool], count: int = 1) -> list[Any]:
        """Wait until `count` things that are `wanted` have come, and return them."""
        with gevent.Timeout(PATIENCE, AssertionError(f"did not come: {self.seen!r}")):
            while len(found := [thing for thing in self.seen if wanted(thing)]) < count:
                self._more.clear()
                self._more.wait()
        return found


class Recorder(CommandListener):
    """Keeps the events of commands."""

    def __init__(self) -> None:
        self.watch = Watch()

    def started(self, event: Any) -> None:
        self.watch.add(("started", event))

    def succeeded(self, event: Any) -> None:
        self.watch.add(("succeeded", event))

    def failed(self, event: Any) -> None:
        self.watch.add(("failed", event))

    def events(self, *names: str, kind: str | None = None) -> list[Any]:
        """Events of the commands with these names, or of all."""
        return [event for what, event in self.watch.seen
                if (not names or event.command_name in names) and kind in (None, what)]

    def commands(self, *names: str) -> list[Any]:
        """The commands that were started."""
        return [event.command for event in self.events(*names, kind="started")]

    def kinds(self, *names: str) -> list[str]:
        """started, succeeded, failed, in their order."""
        return [what for what, event in self.watch.seen if not names or event.command_name in names]

    def wait_for(self, kind: str, name: str, count: int = 1) -> None:
        """Until so many of these events came."""
        self.watch.wait_for(lambda seen: seen[0] == kind and seen[1].command_name == name, count)

    def clear(self) -> None:
        """Forget."""
        self.watch.seen.clear()


class Sent(NamedTuple):
    """A message of the driver: the connection's number, the command, and the flag bits. Without a command: the driver
    has closed the connection."""

    connection: int
    command: dict[str, Any]
    flags: int = 0

    @property
    def name(self) -> str:
        """The command's name; empty for a close."""
        return next(iter(self.command), "")


class Tap(Proxy):
    """Passes everything on to the server of `uri` and keeps what the driver sends, hellos left out."""

    def __init__(self, uri: str) -> None:
        super().__init__(parse_uri(uri)["nodelist"][0])
        self.watch = Watch()
        self.uri = "mongodb://{}:{}/?directConnection=true".format(*self.address)
        self._numbers = itertools.count()

    def _requests(self, client: Any, server: Any) -> None:
        number = next(self._numbers)
        try:
            while message := _message(client):
                self._record(number, message)
                server.sendall(message)
            self.watch.add(Sent(number, {}))
            server.shutdown(socket.SHUT_WR)
        except OSError:
            self.watch.add(Sent(number, {}))
            server.close()

    def _record(self, number: int, message: bytes) -> None:
        _, _, _, opcode, flags = struct.unpack_from("<iiiiI", message)
        if opcode != OP_MSG:
            return
        size = struct.unpack_from("<i", message, 21)[0]
        sent = Sent(number, bson.decode(message[21:21 + size]), flags)
        if sent.name not in ("hello", "ismaster"):
            self.watch.add(sent)

    def sent(self, *names: str) -> list[Sent]:
        """The messages with commands of these names."""
        return [sent for sent in self.watch.seen if sent.name in names]

    def wait_for(self, name: str, count: int = 1) -> list[Sent]:
        """Until so many of these commands were sent."""
        return self.watch.wait_for(lambda sent: sent.name == name, count)

    def wait_closed(self, connection: int) -> None:
        """Until the driver has closed the connection."""
        self.watch.wait_for(lambda sent: sent == Sent(connection, {}))


def _message(sock: Any) -> bytes:
    """The next message; empty at the end."""
    data = sock.recv(65536)
    while data and (len(data) < 4 or len(data) < struct.unpack_from("<i", data)[0]):
        more = sock.recv(65536)
        if not more:
            return b""
        data += more
    return data


def until(condition: Callable[[], bool]) -> None:
    """Wait for what the server does later than it answers, and nothing announces."""
    with gevent.Timeout(PATIENCE, AssertionError("it did not come to pass")):
        while not condition():
            gevent.sleep(0.002)
