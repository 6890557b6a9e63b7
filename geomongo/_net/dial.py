"""Open a stream: names, TCP or a unix socket, options of the socket, and the time limit over all of it."""
from __future__ import annotations

import _socket
from typing import Any

from geomongo._net import dns
from geomongo._net.sched import TimeLimit
from geomongo._net.stream import Stream
from geomongo.errors import AutoReconnect, NetworkTimeout

# Keepalive as the driver specifications advise: first probe after 120 s, then every 10 s, nine times.
_KEEPALIVE = (("TCP_KEEPIDLE", 120), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 9))


def dial(host: str, port: int | None, connect_timeout: float | None, background: bool = False) -> Stream:
    """Connect to `host`:`port`, or to the unix socket `host` where `port` is None.

    `connect_timeout` in seconds covers resolving, and every address together. Waits on a `background` stream do not
    keep the hub alive. Raises AutoReconnect, or NetworkTimeout where the time ran out. A kill closes the socket.
    """
    with TimeLimit(connect_timeout, background):
        return _dial_any(host, port, background)
    raise NetworkTimeout(f"{name_of(host, port)}: connecting took longer than connectTimeoutMS "
                         f"({connect_timeout} s); is the server up and reachable from here?")


def name_of(host: str, port: int | None) -> str:
    """host:port, or the path of a unix socket, as errors show it."""
    if port is None:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _dial_any(host: str, port: int | None, background: bool) -> Stream:
    if port is None:
        addresses = [dns.Address(_socket.AF_UNIX, host)]
    else:
        addresses = dns.resolve(host, port)
    last: OSError | None = None
    for address in addresses:
        try:
            return _connect(address, name_of(host, port), background)
        except OSError as error:
            last = error
    reason = "the name has no address" if last is None else last.strerror or str(last)
    raise AutoReconnect(f"{name_of(host, port)}: connecting failed: {reason}") from last


def _connect(address: dns.Address, name: str, background: bool) -> Stream:
    sock = _socket.socket(address.family, _socket.SOCK_STREAM | getattr(_socket, "SOCK_CLOEXEC", 0))
    try:
        sock.setblocking(False)
        if address.family != _socket.AF_UNIX:
            _set_tcp_options(sock)
        stream = Stream(sock, name, background)
    except BaseException:
        sock.close()
        raise
    try:
        stream.connect(address.sockaddr)
    except BaseException:
        stream.close()
        raise
    return stream


def _set_tcp_options(sock: Any) -> None:
    sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    sock.setsockopt(_socket.SOL_SOCKET, _socket.SO_KEEPALIVE, 1)
    for option, seconds in _KEEPALIVE:
        number = getattr(_socket, option, None)
        if number is not None:
            sock.setsockopt(_socket.IPPROTO_TCP, number, seconds)
