"""One request and its reply, over real sockets: whole, in pieces, cut off, and wrong."""
from __future__ import annotations

import struct

import gevent
import pytest

from geomongo.errors import AutoReconnect, NetworkTimeout, OperationFailure, ProtocolError
from tests.fakes.proxy import Proxy
from tests.fakes.scripted_server import ScriptedServer
from tests.net.connecting import PATIENCE, connect, ping

pytestmark = pytest.mark.net

REPLY = {"ok": 1.0, "text": "x" * 100}


def after_hello(action):
    """A script: answer the handshake, then do `action` with the next request, then wait for the driver to close."""
    def script(peer):
        peer.hello()
        action(peer, peer.request())
        peer.wait_gone()
    return script


def test_a_reply_at_once():
    with ScriptedServer() as server:
        connection = connect(server.address)
        assert ping(connection) == {"ok": 1.0}
        assert ping(connection) == {"ok": 1.0}
        assert connection.usable
        connection.close()
        assert server.peers[0].gone.wait(PATIENCE)


@pytest.mark.parametrize("send", [
    pytest.param(lambda peer, data: (peer.send(data[:3]), gevent.sleep(0), peer.send(data[3:])), id="partial length"),
    pytest.param(lambda peer, data: (peer.send(data[:9]), gevent.sleep(0), peer.send(data[9:])), id="partial header"),
    pytest.param(lambda peer, data: (peer.send(data[:16]), gevent.sleep(0), peer.send(data[16:])), id="header alone"),
    pytest.param(lambda peer, data: (peer.send(data[:60]), gevent.sleep(0), peer.send(data[60:])), id="partial body"),
    pytest.param(lambda peer, data: peer.send_bytewise(data), id="byte by byte"),
])
def test_a_reply_in_pieces(send):
    with ScriptedServer(after_hello(lambda peer, request: send(peer, peer.answer(request, REPLY)))) as server:
        connection = connect(server.address)
        assert ping(connection) == REPLY
        assert connection.usable
        connection.close()


def test_a_handshake_and_a_reply_byte_by_byte():
    with ScriptedServer() as server, Proxy(server.address) as proxy:
        proxy.chunk = 1
        connection = connect(proxy.address)
        assert ping(connection) == {"ok": 1.0}
        connection.close()


def test_a_reply_that_is_late():
    with ScriptedServer() as server, Proxy(server.address) as proxy:
        connection = connect(proxy.address)
        proxy.open.clear()
        pinging = gevent.spawn(ping, connection)
        assert proxy.held.wait(PATIENCE)
        assert not pinging.ready() and not connection.usable
        proxy.open.set()
        assert pinging.get(timeout=PATIENCE) == {"ok": 1.0}
        assert connection.usable
        connection.close()


@pytest.mark.parametrize("size", [65535 - 100, 65536, 1 << 20, 8 << 20])
def test_a_large_reply(size):
    large = {"ok": 1.0, "text": "x" * size}
    with ScriptedServer(after_hello(lambda peer, request: peer.reply(request, large))) as server:
        connection = connect(server.address)
        assert ping(connection) == large
        assert connection.usable
        connection.close()


def test_a_large_request():
    lengths = []
    with ScriptedServer(after_hello(lambda peer, request: (
            lengths.append(len(request.document["text"])), peer.reply(request)))) as server:
        connection = connect(server.address)
        connection.command("admin", {"echo": 1, "text": "x" * (8 << 20)})
        assert lengths == [8 << 20]
        connection.close()


def test_a_cut_after_every_byte_of_a_reply():
    with ScriptedServer() as server, Proxy(server.address) as proxy:
        connection = connect(proxy.address)
        ping(connection)
        connection.close()
        whole, hello = proxy.passed, proxy.passed - 38  # a reply of {"ok": 1.0} takes 16 + 5 + 17 bytes
        for count in range(hello, whole):
            proxy.cut_after = count
            connection = connect(proxy.address)
            with pytest.raises(AutoReconnect, match=r"127\.0\.0\.1:\d+: .*\(phase: (receive|send)\)"):
                ping(connection)
            assert not connection.usable
            connection.close()


def test_a_cut_after_every_byte_of_the_handshake():
    with ScriptedServer() as server, Proxy(server.address) as proxy:
        connect(proxy.address).close()
        for count in range(0, proxy.passed, 7):
            proxy.cut_after = count or 1
            with pytest.raises(AutoReconnect, match=r"127\.0\.0\.1:\d+: .*\(phase: (receive|send)\)"):
                connect(proxy.address)


WRONG = {
    "garbage": (lambda peer, request: b"HTTP/1.1 400 Bad Request\r\n\r\n", "larger than the server's maxMessageSize"),
    "zeros": (lambda peer, request: bytes(64), "length 0 is shorter"),
    "negative length": (lambda peer, request: peer.answer(request, length=-1), "length -1 is shorter"),
    "too long": (lambda peer, request: peer.answer(request, length=48_000_001), "larger than the server's maxMess"),
    "two replies": (lambda peer, request: peer.answer(request) * 2, "38 bytes more than its reply has"),
    "longer than announced": (lambda peer, request: peer.answer(request) + b"\0", "1 bytes more than its reply has"),
    "announced too short": (lambda peer, request: peer.answer(request, length=37), "1 bytes more"),
    "another request": (lambda peer, request: peer.answer(request, response_to=request.request_id + 1),
                        "response to request"),
    "OP_REPLY": (lambda peer, request: peer.answer(request, opcode=1), "opcode 1 arrived"),
    "a checksum flag": (lambda peer, request: peer.answer(request)[:16] + b"\1" + peer.answer(request)[17:],
                        "checksumPresent"),
    "no BSON": (lambda peer, request: peer.answer(request)[:25] + b"\x77" + peer.answer(request)[26:],
                "not a BSON document"),
}


@pytest.mark.parametrize(("wrong", "text"), WRONG.values(), ids=WRONG.keys())
def test_what_is_no_reply_is_refused_and_the_connection_closed(wrong, text):
    with ScriptedServer(after_hello(lambda peer, request: peer.send(wrong(peer, request)))) as server:
        connection = connect(server.address)
        with pytest.raises(ProtocolError, match=text) as refused:
            ping(connection)
        assert str(refused.value).startswith(server.name)
        assert "phase: receive" in str(refused.value)
        assert not connection.usable
        connection.close()  # as the pool does with what is not usable
        assert server.peers[0].gone.wait(PATIENCE)


WRONG_HELLO = {
    **{name: WRONG[name] for name in ("garbage", "zeros", "negative length", "too long", "another request")},
    "two replies": (WRONG["two replies"][0], "53 bytes more than its reply has"),
    "OP_MSG": (lambda peer, request: peer.answer(request, opcode=2013), "opcode 2013 arrived where OP_REPLY"),
    "no BSON": (lambda peer, request: peer.answer(request)[:40] + b"\x77" + peer.answer(request)[41:],
                "not a BSON document"),
    "refusal": (lambda peer, request: peer.answer(request, {"ok": 0.0, "errmsg": "go away"}), "'go away'"),
}


@pytest.mark.parametrize(("wrong", "text"), WRONG_HELLO.values(), ids=WRONG_HELLO.keys())
def test_what_is_no_hello_is_refused_and_the_socket_closed(wrong, text):
    def script(peer):
        peer.send(wrong(peer, peer.request()))
        peer.wait_gone()

    with ScriptedServer(script) as server:
        with pytest.raises(ProtocolError, match=text) as refused:
            connect(server.address)
        assert str(refused.value).startswith(server.name)
        assert "phase: handshake" in str(refused.value)
        assert server.peers[0].gone.wait(PATIENCE)


def test_an_error_of_the_server_leaves_the_connection_usable():
    failure = {"ok": 0.0, "errmsg": "no such thing", "code": 59}
    with ScriptedServer(after_hello(lambda peer, request: peer.reply(request, failure))) as server:
        connection = connect(server.address)
        with pytest.raises(OperationFailure, match="no such thing"):
            ping(connection)
        assert connection.usable
        connection.close()


def test_a_later_hello_that_says_nonsense():
    nonsense = {"ok": 1.0, "hosts": 5}
    with ScriptedServer(after_hello(lambda peer, request: peer.reply(request, nonsense))) as server:
        connection = connect(server.address)
        with pytest.raises(ProtocolError, match="hello says hosts: 5, which is not a list of addresses") as refused:
            connection.ask_hello()
        assert str(refused.value).startswith(server.name)
        assert not connection.usable


def test_the_server_closes_before_it_replies():
    with ScriptedServer(after_hello(lambda peer, request: peer.close())) as server:
        connection = connect(server.address)
        with pytest.raises(AutoReconnect, match=r"the server closed the connection \(phase: receive\)") as lost:
            ping(connection)
        assert str(lost.value).startswith(server.name)
        assert not connection.usable
        connection.close()


def test_the_server_resets_the_connection():
    def reset(peer, request):
        peer.sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SOL_SOCKET, SO_LINGER: close with RST
        peer.close()

    with ScriptedServer(after_hello(reset)) as server:
        connection = connect(server.address)
        with pytest.raises(AutoReconnect, match="Connection reset by peer"):
            ping(connection)
        connection.close()


def test_a_connection_that_is_closed_while_an_operation_waits_on_it():
    with ScriptedServer(after_hello(lambda peer, request: None)) as server:
        connection = connect(server.address)
        pinging = gevent.spawn(ping, connection)
        assert server.peers[0].arrived.wait(PATIENCE)
        while b"ping" not in server.peers[0].received:
            gevent.sleep(0)
        connection.close()
        with pytest.raises(AutoReconnect, match="closed while an operation waited on it"):
            pinging.get(timeout=PATIENCE)
        assert server.peers[0].gone.wait(PATIENCE)


def test_a_silent_server_meets_socket_timeout():
    with ScriptedServer(after_hello(lambda peer, request: None)) as server:
        connection = connect(server.address, socket_timeout=0.01)
        with pytest.raises(NetworkTimeout, match=r"phase: receive; socketTimeoutMS is 0.01 s") as late:
            ping(connection)
        assert str(late.value).startswith(server.name)
        assert not connection.usable
        connection.close()


def test_an_operation_after_close():
    with ScriptedServer() as server:
        connection = connect(server.address)
        connection.close()
        connection.close()
        with pytest.raises(AutoReconnect):
            ping(connection)
