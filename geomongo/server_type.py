"""The server types and topology types of the server discovery and monitoring specification."""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["SERVER_TYPE", "TOPOLOGY_TYPE", "ServerType", "TopologyType"]


class ServerType(NamedTuple):
    """Numbers of the server types; `ServerType._fields` are their names."""

    Unknown: int
    Mongos: int
    RSPrimary: int
    RSSecondary: int
    RSArbiter: int
    RSOther: int
    RSGhost: int
    Standalone: int
    LoadBalancer: int


class TopologyType(NamedTuple):
    """Numbers of the topology types."""

    Single: int
    ReplicaSetNoPrimary: int
    ReplicaSetWithPrimary: int
    Sharded: int
    Unknown: int
    LoadBalanced: int


SERVER_TYPE = ServerType(*range(9))
TOPOLOGY_TYPE = TopologyType(*range(6))
