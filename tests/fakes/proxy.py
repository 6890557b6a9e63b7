"""A proxy on loopback that cuts, delays and chops what a server answers."""
from __future__ import annotations

from typing import Any

import gevent
from gevent import socket
from gevent.event import Event
from gevent.server import StreamServer


class Proxy:
    """Forwards to `target`. Requests pass as they are; of the answers on each connection

    - pieces of at most `chunk` bytes pass, each in its own turn of the hub,
    - nothing passes while `open` is not set,
    - `cut_after` bytes pass, then both ends are closed (None: never).
    """

    def __init__(self, target: tuple[str, int | None]) -> None:
        self.target = target
        self.chunk = 65536
        self.cut_after: int | None = None
        self.open = Event()
        self.open.set()
        self.passed = 0
        self.held = Event()
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        self.address = ("127.0.0.1", listener.getsockname()[1])
        self._server = StreamServer(listener, self._run)
        self._sockets: list[Any] = []

    def _run(self, client: Any, _address: Any) -> None:
        server = socket.create_connection(self.target)
        self._sockets += [client, server]
        requests = gevent.spawn(self._requests, client, server)
        self._answers(server, client)
        requests.kill()
        client.close()
        server.close()

    def _requests(self, client: Any, server: Any) -> None:
        try:
            while data := client.recv(65536):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            server.close()

    def _answers(self, server: Any, client: Any) -> None:
        passed = 0
        try:
            while data := server.recv(self.chunk):
                if not self.open.is_set():
                    self.held.set()
                    self.open.wait()
                if self.cut_after is not None:
                    data = data[:self.cut_after - passed]
                client.sendall(data)
                passed += len(data)
                self.passed += len(data)
                if passed == self.cut_after:
                    return
                gevent.sleep(0)
        except OSError:
            return

    def __enter__(self) -> Proxy:
        self._server.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.stop()
        for sock in self._sockets:
            sock.close()
