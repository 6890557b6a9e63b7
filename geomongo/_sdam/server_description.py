"""What is known of one server, immutable.

Source: specifications/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md, "ServerDescription".
"""
from __future__ import annotations

from datetime import timezone
from typing import Any, Mapping, Optional

from geomongo.server_type import SERVER_TYPE
from geomongo.typings import Address

Hello = Mapping[str, Any]

_DEFAULT_BSON_SIZE = 16 * 1024 * 1024
_DEFAULT_MESSAGE_SIZE = 48_000_000
_DEFAULT_BATCH_SIZE = 1000

_DATA_TYPES = frozenset((SERVER_TYPE.Standalone, SERVER_TYPE.Mongos, SERVER_TYPE.RSPrimary, SERVER_TYPE.RSSecondary,
                         SERVER_TYPE.LoadBalancer))
_WRITABLE = frozenset((SERVER_TYPE.Standalone, SERVER_TYPE.Mongos, SERVER_TYPE.RSPrimary, SERVER_TYPE.LoadBalancer))


def parse_address(text: str) -> Address:
    """'host:port', '[::1]:port', a bare host, or the path of a unix socket, as an address."""
    if text.endswith(".sock"):
        return (text, None)
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return (host.lower(), int(rest[1:]) if rest else 27017)
    host, _, port = text.rpartition(":")
    return (host.lower(), int(port)) if host else (text.lower(), 27017)


def server_type_of(hello: Hello) -> int:
    """The type of the server that sent `hello`."""
    if not hello or hello.get("ok") != 1:
        return SERVER_TYPE.Unknown
    if hello.get("serviceId") is not None:
        return SERVER_TYPE.LoadBalancer
    if hello.get("isreplicaset"):
        return SERVER_TYPE.RSGhost
    if hello.get("msg") == "isdbgrid":
        return SERVER_TYPE.Mongos
    if hello.get("setName"):
        return _member_type(hello)
    return SERVER_TYPE.Standalone


def _member_type(hello: Hello) -> int:
    if hello.get("hidden"):
        return SERVER_TYPE.RSOther
    if hello.get("isWritablePrimary") or hello.get("ismaster"):
        return SERVER_TYPE.RSPrimary
    if hello.get("secondary"):
        return SERVER_TYPE.RSSecondary
    if hello.get("arbiterOnly"):
        return SERVER_TYPE.RSArbiter
    return SERVER_TYPE.RSOther


class ServerDescription:
    """One server as its last hello (or the lack of one) shows it.

    `round_trip_time` is in seconds; `last_update_time` is monotonic, in seconds.
    """

    __slots__ = ("address", "error", "hello", "last_update_time", "min_round_trip_time", "round_trip_time",
                 "server_type")

    def __init__(self, address: Address, hello: Optional[Hello] = None, round_trip_time: Optional[float] = None,
                 error: Optional[Exception] = None, min_round_trip_time: float = 0.0,
                 last_update_time: float = 0.0, server_type: Optional[int] = None) -> None:
        self.address = address
        self.hello: Hello = hello or {}
        self.server_type = server_type_of(self.hello) if server_type is None else server_type
        self.round_trip_time = round_trip_time
        self.min_round_trip_time = min_round_trip_time
        self.error = error
        self.last_update_time = last_update_time

    def to_unknown(self, error: Optional[Exception] = None) -> ServerDescription:
        """This server, of which nothing is known any more."""
        unknown = ServerDescription(self.address, error=error)
        version = error_topology_version(error)
        if version is not None:
            unknown.hello = {"topologyVersion": version}
        return unknown

    def _hosts(self, field: str) -> set[Address]:
        return {parse_address(host) for host in self.hello.get(field, ())}

    @property
    def server_type_name(self) -> str:
        """The type's name, as in the specification."""
        return str(SERVER_TYPE._fields[self.server_type])

    @property
    def all_hosts(self) -> set[Address]:
        """Hosts, passives and arbiters of the replica set as this member lists them."""
        return self._hosts("hosts") | self._hosts("passives") | self._hosts("arbiters")

    @property
    def me(self) -> Optional[Address]:
        """The member's own idea of its address."""
        me = self.hello.get("me")
        return parse_address(me) if me else None

    @property
    def primary(self) -> Optional[Address]:
        """The primary's address as this member sees it."""
        primary = self.hello.get("primary")
        return parse_address(primary) if primary else None

    @property
    def tags(self) -> Mapping[str, Any]:
        """Tags of the member."""
        tags: Mapping[str, Any] = self.hello.get("tags", {})
        return tags

    @property
    def replica_set_name(self) -> Optional[str]:
        """Name of the member's replica set."""
        return self.hello.get("setName")

    @property
    def set_version(self) -> Optional[int]:
        """Version of the replica set's configuration."""
        return self.hello.get("setVersion")

    @property
    def election_id(self) -> Any:
        """ObjectId of the election that made this member primary."""
        return self.hello.get("electionId")

    @property
    def election_tuple(self) -> tuple[Optional[int], Any]:
        """setVersion and electionId, by which primaries are told apart."""
        return self.set_version, self.election_id

    @property
    def cluster_time(self) -> Optional[Mapping[str, Any]]:
        """$clusterTime of the last hello."""
        return self.hello.get("$clusterTime")

    @property
    def topology_version(self) -> Optional[Mapping[str, Any]]:
        """topologyVersion of the last hello or error."""
        return self.hello.get("topologyVersion")

    @property
    def logical_session_timeout_minutes(self) -> Optional[int]:
        """How long the server keeps an idle session, in minutes; None where it has none."""
        return self.hello.get("logicalSessionTimeoutMinutes")

    @property
    def last_write_date(self) -> Optional[float]:
        """The member's last write, in seconds since the epoch."""
        last = self.hello.get("lastWrite")
        date = last.get("lastWriteDate") if last else None
        # The codec gives naive dates, which are UTC and not local time.
        return date.replace(tzinfo=timezone.utc).timestamp() if date is not None else None

    @property
    def min_wire_version(self) -> int:
        """Lowest wire protocol version that the server speaks."""
        return int(self.hello.get("minWireVersion", 0))

    @property
    def max_wire_version(self) -> int:
        """Highest wire protocol version that the server speaks."""
        return int(self.hello.get("maxWireVersion", 0))

    @property
    def max_bson_size(self) -> int:
        """Largest document in bytes."""
        return int(self.hello.get("maxBsonObjectSize", _DEFAULT_BSON_SIZE))

    @property
    def max_message_size(self) -> int:
        """Largest message in bytes."""
        return int(self.hello.get("maxMessageSizeBytes", _DEFAULT_MESSAGE_SIZE))

    @property
    def max_write_batch_size(self) -> int:
        """Most operations in one write command."""
        return int(self.hello.get("maxWriteBatchSize", _DEFAULT_BATCH_SIZE))

    @property
    def mongos(self) -> bool:
        """Whether this is a mongos."""
        return self.server_type == SERVER_TYPE.Mongos

    @property
    def is_server_type_known(self) -> bool:
        """Whether the server has answered."""
        return self.server_type != SERVER_TYPE.Unknown

    @property
    def is_writable(self) -> bool:
        """Whether writes can go here."""
        return self.server_type in _WRITABLE

    @property
    def is_readable(self) -> bool:
        """Whether reads with some read preference can go here."""
        return self.server_type in _DATA_TYPES

    @property
    def retryable_writes_supported(self) -> bool:
        """Whether a write may carry a txnNumber here."""
        if self.server_type == SERVER_TYPE.LoadBalancer:
            return True
        return (self.logical_session_timeout_minutes is not None
                and self.server_type in (SERVER_TYPE.Mongos, SERVER_TYPE.RSPrimary))

    @property
    def retryable_reads_supported(self) -> bool:
        """Whether reads may be retried here."""
        return self.max_wire_version >= 6

    def __repr__(self) -> str:
        error = f", error={self.error!r}" if self.error else ""
        return (f"<{self.__class__.__name__} {self.address} server_type: {self.server_type_name}, "
                f"rtt: {self.round_trip_time}{error}>")

    def __eq__(self, other: object) -> bool:
        """Equal as the SDAM specification compares: everything but times and lastWrite."""
        if not isinstance(other, ServerDescription):
            return NotImplemented
        return self._identity() == other._identity()

    def _identity(self) -> tuple[Any, ...]:
        return (self.address, self.server_type, self.min_wire_version, self.max_wire_version, self.me,
                self._hosts("hosts"), self._hosts("passives"), self._hosts("arbiters"), self.tags,
                self.replica_set_name, self.set_version, self.election_id, self.primary,
                self.logical_session_timeout_minutes, self.topology_version,
                None if self.error is None else (type(self.error), str(self.error)))

    def __hash__(self) -> int:
        return hash((self.address, self.server_type))


def error_topology_version(error: Optional[Exception]) -> Optional[Mapping[str, Any]]:
    """The topologyVersion that a server put into its error, if any."""
    details = getattr(error, "details", None)
    version = details.get("topologyVersion") if isinstance(details, dict) else None
    return version if is_topology_version(version) else None


def is_topology_version(value: Any) -> bool:
    """Whether `value` has what two of them are compared by."""
    return isinstance(value, Mapping) and "processId" in value and isinstance(value.get("counter"), int)
