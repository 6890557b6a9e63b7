"""Host names to addresses, off the hub (gevent's resolver, whichever the application configured).

What is an address already needs no resolver, and no thread.
"""
from __future__ import annotations

import _socket
from typing import Any, NamedTuple

from gevent.hub import get_hub

from geomongo.errors import AutoReconnect

SOCK_STREAM: int = _socket.SOCK_STREAM


class Address(NamedTuple):
    """Where to connect to: an address family and what connect(2) takes."""

    family: int
    sockaddr: Any


def resolve(host: str, port: int) -> list[Address]:
    """The addresses of `host`, in the order in which to try them.

    Raises AutoReconnect where the name cannot be resolved.
    """
    literal = _literal(host, port)
    if literal is not None:
        return [literal]
    try:
        found = get_hub().resolver.getaddrinfo(host, port, _socket.AF_UNSPEC, SOCK_STREAM)
    except _socket.gaierror as error:
        raise AutoReconnect(f"{host}:{port}: name resolution failed: {error.args[-1]}; check the host name "
                            "in the connection string and the resolver of this machine") from error
    except UnicodeError as error:
        raise AutoReconnect(f"{host}:{port}: this is not a host name: {error}") from error
    addresses = []
    for family, _, _, _, sockaddr in found:
        address = Address(family, sockaddr)
        if address not in addresses:
            addresses.append(address)
    return addresses


def _literal(host: str, port: int) -> Address | None:
    for family, rest in ((_socket.AF_INET, ()), (_socket.AF_INET6, (0, 0))):
        try:
            _socket.inet_pton(family, host)
        except (OSError, ValueError):  # no address of this family; a NUL in it
            continue
        return Address(family, (host, port, *rest))
    return None
