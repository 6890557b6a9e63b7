"""A connected socket: send a request, wait, receive one message.

The socket is the C type of the standard library, which monkey-patching does not touch; its waits are the hub's. So
a stream behaves alike with full, partial or no patching. A stream belongs to the hub that opened it.
"""
from __future__ import annotations

import _socket
import errno
import os
from typing import Any, Callable, Iterable, Union

from geomongo._net import fork
from geomongo._net.sched import Pacer, current_hub, existing_hub
from geomongo.errors import AutoReconnect, InvalidOperation, ProtocolError, PyMongoError

#: What is sent: whole, or in pieces.
Request = Union[bytes, Iterable[bytes]]
#: Reads the length of a message from its first four bytes and refuses impossible ones.
Framer = Callable[[Any, int], int]

READ = 1
WRITE = 2
_PENDING = (errno.EINPROGRESS, errno.EALREADY)
_CHUNK = 65536
_LARGE_CHUNK = 1 << 18
#: What is read of a large reply before others get a turn, in bytes.
_SHARE = 1 << 19


class Stream:
    """One socket. `exchange` is the only wait of the hot path.

    From the first byte sent until the reply is whole the stream is `busy`: whoever leaves a call below by an exception
    leaves it busy, and a busy stream is never used again.
    """

    __slots__ = ("_hub", "_reader", "_sock", "_writer", "background", "busy", "closed", "name", "__weakref__")

    def __init__(self, sock: Any, name: str, background: bool = False) -> None:
        self._sock = sock
        self.background = background
        self._hub = current_hub()
        loop = self._hub.loop
        self._reader = loop.io(sock.fileno(), READ, ref=not background)
        self._writer: Any = None
        self.busy = False
        self.closed = False
        self.name = name
        fork.register(self)

    def connect(self, sockaddr: Any) -> None:
        """Connect the socket. Raises OSError."""
        status = self._sock.connect_ex(sockaddr)
        if status in _PENDING:
            self._wait_writable()
            status = self._sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
        if status:
            raise OSError(status, os.strerror(status))

    def exchange(self, request: Request, frame: Framer, limit: int) -> Any:
        """Send `request` and return the whole message that answers it, of at most `limit` bytes.

        Raises AutoReconnect, and ProtocolError (which does not name the server) for what is no message.
        """
        self.busy = True
        try:
            sent = self._sock.send(request) if type(request) is bytes else 0
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise self._lost("send", error) from error
        if type(request) is not bytes or sent != len(request):
            self._send_rest(request, sent)
        self._hub.wait(self._reader)
        try:
            data = self._sock.recv(_CHUNK)
        except BlockingIOError:
            return self.receive(frame, limit)
        except OSError as error:
            raise self._lost("receive", error) from error
        if len(data) < 4 or frame(data, limit) != len(data):
            return self._receive_rest(data, frame, limit)
        self.busy = False
        return data

    def send(self, request: Request) -> None:
        """Send `request`, to which no answer comes."""
        self.busy = True
        self._send_rest(request, 0)
        self.busy = False

    def receive(self, frame: Framer, limit: int) -> Any:
        """One more message, which the server sends unasked (exhaust)."""
        return self._receive_rest(b"", frame, limit)

    def _receive_rest(self, data: bytes, frame: Framer, limit: int) -> Any:
        """Complete the message that starts with `data`. Never reads beyond it."""
        self.busy = True
        while len(data) < 4:
            data += self._receive(4 - len(data))
        length = frame(data, limit)
        if len(data) > length:
            raise ProtocolError(f"the server sent {len(data) - length} bytes more than its reply has")
        message = self._fill(data, length)
        self.busy = False
        return message

    def _fill(self, data: bytes, length: int) -> bytearray:
        """`data` and what is missing to `length` bytes.

        The buffer grows with what has arrived, so that a length is not paid for before the bytes are there.
        """
        message = bytearray(data)
        pacer = None
        taken = 0
        while len(message) < length:
            part = self._receive(min(length - len(message), _LARGE_CHUNK))
            message += part
            taken += len(part)
            if taken > _SHARE:
                # Others whose replies have arrived read them, too: a share each.
                pacer = pacer or Pacer()
                pacer.restart()
                pacer()
                taken = 0
        return message

    def _receive(self, size: int) -> bytes:
        while True:
            try:
                data: bytes = self._sock.recv(size)
            except BlockingIOError:
                self._hub.wait(self._reader)
                continue
            except OSError as error:
                raise self._lost("receive", error) from error
            if not data:
                raise self._lost("receive", None)
            return data

    def _send_rest(self, request: Request, sent: int) -> None:
        pacer = None
        for part in (request,) if isinstance(request, bytes) else request:
            view = memoryview(part)[sent:]
            sent = 0
            while view:
                view = view[self._send_some(view):]
                if view or part is not request:
                    pacer = pacer or Pacer()
                    pacer()

    def _send_some(self, view: memoryview) -> int:
        try:
            sent: int = self._sock.send(view[:_LARGE_CHUNK])
        except BlockingIOError:
            self._wait_writable()
            return 0
        except OSError as error:
            raise self._lost("send", error) from error
        return sent

    def _wait_writable(self) -> None:
        if self._writer is None:
            self._writer = self._hub.loop.io(self._sock.fileno(), WRITE, ref=not self.background)
        self._hub.wait(self._writer)

    def _lost(self, phase: str, error: OSError | None) -> AutoReconnect:
        reason = "the server closed the connection" if error is None else error.strerror or str(error)
        return AutoReconnect(f"{self.name}: {reason} (phase: {phase})")

    def close(self) -> None:
        """Close the socket; whoever waits on it gets AutoReconnect. Never waits, never raises."""
        self._close(AutoReconnect(f"{self.name}: the connection was closed while an operation waited on it"))

    def after_fork(self) -> None:
        """In a child: close the descriptor, send nothing; the copy of a greenlet that waits on it ends."""
        if self._hub is not existing_hub():
            self.discard()  # the hub of another thread, which does not live here
        self._close(InvalidOperation(f"{self.name}: {fork.LEFT_BEHIND}"))

    def discard(self) -> None:
        """Close the descriptor of a stream whose hub is gone: no watcher of it is touched."""
        if not self.closed:
            self.closed = True
            self._sock.close()

    def _close(self, reason: PyMongoError) -> None:
        if self.closed:
            return
        self.closed = True
        watchers = [watcher for watcher in (self._reader, self._writer) if watcher is not None]
        if any(watcher.active for watcher in watchers):
            # The waiter must have left before the descriptor's number can be given to another socket.
            self._hub.cancel_waits_close_and_then(watchers, reason, self._sock.close)
            return
        for watcher in watchers:
            watcher.close()
        self._sock.close()
