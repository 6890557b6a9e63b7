"""SecantusDB, a MongoDB-compatible server, as a child process on loopback.

It is started on a free port with an empty store in memory, is ready when it answers ``hello``, and is
stopped by its process id.  Nothing here uses a driver: a driver under test must not judge whether its
server is up.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, NoReturn

import bson

OP_MSG = 2013
START_SECONDS = 60.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.05


class ServerDidNotStart(RuntimeError):
    """The server process ended, or did not answer in time; the text holds the end of its log."""


class Secantus:
    """One server.  Also a context manager: started on entry, stopped on exit."""

    def __init__(self, *arguments: str, port: int | None = None, command: str | None = None) -> None:
        self.host = "127.0.0.1"
        self.port = port or 0
        self._wanted_port = port
        self._arguments = arguments
        self._command = command or find_command()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port

    @property
    def uri(self) -> str:
        return f"mongodb://{self.host}:{self.port}/"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> Secantus:
        """Starts the process and waits until it answers.  Raises ServerDidNotStart."""
        for attempt in range(3):
            self.port = self._wanted_port or free_port()
            self._spawn()
            try:
                self._await_hello()
                return self
            except ServerDidNotStart:
                self.stop()
                if self._wanted_port or attempt == 2:  # a free port may be taken by another before we bind it
                    raise
        raise AssertionError("not reached")

    def stop(self) -> None:
        """Ends the process by its id; waits until it is gone."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None

    def log_tail(self, limit: int = 4000) -> str:
        """The end of what the server printed."""
        if self._log is None:
            return ""
        self._log.seek(0)
        return self._log.read()[-limit:].decode("utf-8", "replace")

    def __enter__(self) -> Secantus:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def _spawn(self) -> None:
        self._log = tempfile.TemporaryFile()
        arguments = [self._command, "--host", self.host, "--port", str(self.port)]
        arguments += ["--storage-path", ":memory:", "--log-level", "WARNING", *self._arguments]
        # A session of its own: Ctrl-C reaches whoever started us, and that one stops the server in order.
        self._process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, start_new_session=True
        )

    def _await_hello(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                hello(self.address)
                return
            except OSError:
                pass
            try:
                self._process.wait(POLL_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            self._fail(f"ended with {self._process.returncode}")
        self._fail(f"was silent for {START_SECONDS:.0f} s")

    def _fail(self, what: str) -> NoReturn:
        raise ServerDidNotStart(f"{self._command} {what}: {self.log_tail()}")


def find_command() -> str:
    """Path of the server's command in the running interpreter's environment."""
    beside = Path(sys.executable).with_name("secantusd-py")
    if beside.exists():
        return str(beside)
    raise ServerDidNotStart("secantusd-py is not installed; install geomongo with the extra 'test' or 'demo'")


def free_port() -> int:
    """A port on loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def hello(address: tuple[str, int], timeout: float = 5.0) -> dict[str, Any]:
    """One ``hello`` over a plain socket (timeout in seconds).  Raises OSError while nobody answers."""
    body = b"\0\0\0\0\0" + bson.encode({"hello": 1, "$db": "admin"})
    with socket.create_connection(address, timeout) as connection:
        connection.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, OP_MSG) + body)
        (length,) = struct.unpack("<i", _read_exactly(connection, 4))
        reply = _read_exactly(connection, length - 4)
    document: dict[str, Any] = bson.decode(reply[17:])
    return document


def _read_exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise ConnectionResetError("the server closed the connection before its reply was whole")
        data += chunk
    return data


def server_from_environment() -> str | None:
    """The URI of a real deployment to test against, where GEOMONGO_TEST_URI names one."""
    return os.environ.get("GEOMONGO_TEST_URI") or None
