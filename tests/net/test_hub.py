"""A large message does not hold the hub: others run many times while it is received or sent."""
from __future__ import annotations

import socket
import struct
import threading
import time

import gevent
import pytest

from geomongo._net import sched
from geomongo._net.dial import dial
from geomongo._wire.framing import message_length
from tests.net.connecting import PATIENCE

pytestmark = pytest.mark.net

SIZE = 16 << 20
MESSAGE = struct.pack("<iiii", SIZE, 1, 1, 2013) + bytes(SIZE - 16)
REQUEST = struct.pack("<iiii", 16, 1, 0, 2013)


class BlockingServer:
    """Runs `serve` with one connection in an OS thread, so that the hub under test has nothing else to do."""

    def __init__(self, serve):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self._thread = threading.Thread(target=self._run, args=(serve,), daemon=True)

    def _run(self, serve):
        connection, _ = self._listener.accept()
        with connection:
            connection.settimeout(PATIENCE)
            serve(connection)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join(PATIENCE)
        self._listener.close()


def exactly(connection, size):
    """Receive `size` bytes and forget them."""
    while size:
        size -= len(connection.recv(min(size, 1 << 18)))


def send_large(connection):
    """A large reply to a small request."""
    exactly(connection, len(REQUEST))
    connection.sendall(MESSAGE)


def take_large(connection):
    """A small reply to a large request."""
    exactly(connection, SIZE)
    connection.sendall(REQUEST)


def exchange_blocking(address, request):
    """Processor seconds of an exchange with a blocking socket, which gives nobody a turn."""
    with socket.create_connection(address) as sock:
        started = time.thread_time()
        sock.sendall(request)
        data = bytearray(sock.recv(65536))
        while len(data) < struct.unpack_from("<i", data)[0]:
            data += sock.recv(1 << 18)
        return time.thread_time() - started


class Gaps:
    """A greenlet that runs in every turn of the hub and keeps the longest time, of this thread's processor, between."""

    def __init__(self):
        self.longest = 0.0
        self.turns = 0
        self._greenlet = gevent.spawn(self._run)

    def _run(self):
        while True:
            before = time.thread_time()
            gevent.sleep(1e-6)
            self.longest = max(self.longest, time.thread_time() - before)
            self.turns += 1

    def stop(self):
        """One last turn, and the end."""
        gevent.sleep(0.001)
        self._greenlet.kill()


def exchange_driver(address, request):
    """The longest hold, in processor seconds, and how often another greenlet ran during the exchange."""
    stream = dial(*address, PATIENCE)
    gaps = Gaps()
    gevent.sleep(0.001)
    gaps.longest, before = 0.0, gaps.turns
    reply = stream.exchange(request, message_length, SIZE)
    turns = gaps.turns - before
    gaps.stop()
    stream.close()
    assert len(reply) == struct.unpack_from("<i", reply)[0]
    return gaps.longest, turns


def test_a_large_reply_holds_the_hub_for_a_small_part_of_its_time():
    whole, longest, turns = [], [], []
    for _ in range(5):
        with BlockingServer(send_large) as server:
            whole.append(exchange_blocking(server.address, REQUEST))
        with BlockingServer(send_large) as server:
            held, ran = exchange_driver(server.address, REQUEST)
        longest.append(held)
        turns.append(ran)
    # The best of five: what is measured is how the work is cut, not what else the machine does.
    assert min(longest) < min(whole) / 2
    assert min(turns) >= 16


def test_a_large_request_gives_turns(monkeypatch):
    """It is cut by time, 3 ms; here every look at the clock finds that the turn is over."""
    monkeypatch.setattr(sched, "TURN", -1.0)
    with BlockingServer(take_large) as server:
        _, turns = exchange_driver(server.address, MESSAGE)
    assert turns >= 16
