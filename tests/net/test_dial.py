"""Opening a connection: addresses of every kind, refusals, silence and time limits."""
from __future__ import annotations

import errno
import socket

import gevent
import greenlet
import pytest

from geomongo._net.dial import dial, name_of
from geomongo._net.dns import Address, resolve
from geomongo.errors import AutoReconnect, NetworkTimeout, ProtocolError
from tests.fakes.scripted_server import ScriptedServer
from tests.net.connecting import PATIENCE, connect, ping

pytestmark = pytest.mark.net


def has_ipv6() -> bool:
    """Whether this machine has ::1."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(("host", "port", "name"), [
    ("a.example", 1, "a.example:1"), ("::1", 27017, "[::1]:27017"), ("/tmp/x.sock", None, "/tmp/x.sock")])
def test_names_as_errors_show_them(host, port, name):
    assert name_of(host, port) == name


def test_a_unix_socket(tmp_path):
    path = str(tmp_path / "mongodb.sock")
    with ScriptedServer(path=path) as server:
        connection = connect(server.address)
        assert ping(connection) == {"ok": 1.0}
        connection.close()


def test_ipv6():
    if not has_ipv6():
        # Then connecting there is refused like any other address that is not there.
        with pytest.raises(AutoReconnect, match=r"\[::1\]:9"):
            connect(("::1", 9))
        return
    with ScriptedServer(host="::1") as server:
        connection = connect(server.address)
        assert ping(connection) == {"ok": 1.0}
        connection.close()


def test_a_host_name_whose_first_address_refuses():
    """localhost may be ::1 and 127.0.0.1, of which the server has one."""
    with ScriptedServer() as server:
        connection = connect(("localhost", server.address[1]))
        assert ping(connection) == {"ok": 1.0}
        connection.close()


def test_the_options_of_a_tcp_socket():
    with ScriptedServer() as server:
        before = open_descriptors()
        stream = dial(*server.address, PATIENCE)
        (descriptor,) = open_descriptors() - before
        with socket.socket(fileno=descriptor) as sock:
            try:
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 120
                assert not sock.get_inheritable()
            finally:
                sock.detach()
        stream.close()


def open_descriptors() -> set[int]:
    """Client sockets of this process that are connected to something."""
    found = set()
    for descriptor in range(3, 1024):
        try:
            sock = socket.socket(fileno=descriptor)
        except OSError:
            continue
        try:
            if sock.family == socket.AF_INET and sock.getpeername()[1] not in (None, 0):
                found.add(descriptor)
        except OSError:
            pass
        finally:
            sock.detach()
    return found


def test_a_refused_connection():
    port = free_port()
    with pytest.raises(AutoReconnect) as refused:
        connect(("127.0.0.1", port))
    assert str(refused.value) == f"127.0.0.1:{port}: connecting failed: Connection refused"
    assert refused.value.__cause__.errno == errno.ECONNREFUSED


@pytest.mark.parametrize("path", ["missing.sock", "x" * 200 + ".sock"])
def test_a_unix_socket_that_is_not_there(tmp_path, path):
    with pytest.raises(AutoReconnect, match=r"\.sock: connecting failed: "):
        connect((str(tmp_path / path), None))


@pytest.mark.parametrize(("host", "family", "sockaddr"), [
    ("127.0.0.1", socket.AF_INET, ("127.0.0.1", 5)), ("::1", socket.AF_INET6, ("::1", 5, 0, 0)),
    ("2001:db8::7", socket.AF_INET6, ("2001:db8::7", 5, 0, 0))])
def test_an_address_needs_no_resolver(host, family, sockaddr):
    # Outside of any greenlet's wait: a resolver would have to switch to the hub.
    switches = []
    previous = greenlet.settrace(lambda event, pair: switches.append(event))
    try:
        assert resolve(host, 5) == [Address(family, sockaddr)]
    finally:
        greenlet.settrace(previous)
    assert switches == []


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 300, "with space", "null\0byte"])
def test_a_name_that_cannot_be_resolved(host):
    with pytest.raises(AutoReconnect, match=":27017: (name resolution failed|this is not a host name)"):
        connect((host, 27017))


@pytest.fixture
def full_backlog():
    """The address of a listener whose queue is full: the kernel leaves a further connect without an answer."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = []
        for _ in range(8):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            fillers.append(filler)
        yield listener.getsockname()
        for filler in fillers:
            filler.close()


def test_a_connect_that_nobody_answers(full_backlog):
    with pytest.raises(NetworkTimeout) as late:
        connect(full_backlog, connect_timeout=0.05)
    text = str(late.value)
    assert text.startswith(f"127.0.0.1:{full_backlog[1]}: connecting took longer than connectTimeoutMS (0.05 s)")


def test_a_kill_while_connecting(full_backlog):
    connecting = gevent.spawn(connect, full_backlog)
    gevent.sleep(0)
    gevent.sleep(0)
    assert not connecting.ready()
    connecting.kill(timeout=PATIENCE)
    assert isinstance(connecting.value, gevent.GreenletExit)


def test_a_server_that_is_silent_in_the_handshake():
    def script(peer):
        peer.request()
        peer.wait_gone()

    with ScriptedServer(script) as server:
        with pytest.raises(NetworkTimeout) as late:
            connect(server.address, connect_timeout=0.05)
        assert str(late.value).startswith(f"{server.name}: the server did not answer the handshake within "
                                          "connectTimeoutMS (phase: handshake)")
        assert server.peers[0].gone.wait(PATIENCE)


def test_the_applications_own_timeout_leaves_as_itself():
    def script(peer):
        peer.request()
        peer.wait_gone()

    with ScriptedServer(script) as server:
        timer = gevent.Timeout(0.01)
        timer.start()
        try:
            with pytest.raises(gevent.Timeout) as fired:
                connect(server.address)
        finally:
            timer.close()
        assert fired.value is timer
        assert server.peers[0].gone.wait(PATIENCE)


def test_a_server_that_closes_at_once():
    with ScriptedServer(lambda peer: peer.close()) as server:
        with pytest.raises(AutoReconnect, match=r"phase: (send|receive)") as lost:
            connect(server.address)
        assert str(lost.value).startswith(server.name)


@pytest.mark.parametrize("wrong", [
    {"maxWireVersion": "many"}, {"maxBsonObjectSize": {}}, {"maxMessageSizeBytes": "x"}, {"maxWriteBatchSize": []},
    {"hosts": 5, "setName": "rs"}, {"hosts": ["a:b:c"], "setName": "rs"}, {"tags": 1}, {"me": 7},
    {"lastWrite": {"lastWriteDate": "yesterday"}}, {"lastWrite": 1}, {"topologyVersion": 1},
    {"logicalSessionTimeoutMinutes": "long"}, {"setVersion": "x"}, {"primary": "a:-"}, {"primary": "a:70000"},
    {"maxWriteBatchSize": 0}, {"maxMessageSizeBytes": float("nan")}, {"electionId": 1},
])
def test_a_hello_that_says_nonsense(wrong):
    def script(peer):
        request = peer.request()
        peer.send(peer.answer(request, {"ok": 1.0, "maxWireVersion": 21, **wrong}))
        peer.wait_gone()

    with ScriptedServer(script) as server:
        with pytest.raises(ProtocolError, match=next(iter(wrong))) as refused:
            connect(server.address)
        assert str(refused.value).startswith(server.name)
        assert server.peers[0].gone.wait(PATIENCE)
