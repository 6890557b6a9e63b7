"""The client: options, databases, and the deployment behind them.

Source: MongoDB manual, "Connection Strings"; specifications/source/server-discovery-and-monitoring.
"""
from __future__ import annotations

import warnings
import weakref
from types import TracebackType
from typing import Any, Mapping, NoReturn, Optional, Sequence, Union

from bson.codec_options import TypeRegistry

from geomongo import _management as management
from geomongo._commands.base import RETRY_READ, Scope
from geomongo._commands.run import RunCommand
from geomongo._deployment.server import PoolStats
from geomongo._deployment.topology import Topology
from geomongo._execution.cursors import CursorCore
from geomongo._execution.executor import Executor
from geomongo._find import check_session
from geomongo._handles import Handle, Inside
from geomongo._options.client_options import ClientOptions, client_options
from geomongo._sdam.topology_description import TopologyDescription
from geomongo.client_session import ClientSession, SessionOptions, TransactionOptions
from geomongo.command_cursor import CommandCursor, opened
from geomongo.database import Database
from geomongo.driver_info import DriverInfo
from geomongo.errors import ConfigurationError, InvalidOperation
from geomongo.monitoring import group_listeners
from geomongo.read_preferences import ReadPreference
from geomongo.server_type import SERVER_TYPE
from geomongo.typings import Address, DocumentType

__all__ = ["MongoClient"]

Session = Optional[ClientSession]


class MongoClient(Handle[DocumentType]):
    """A client of a MongoDB deployment, for any number of greenlets. Make one per process, at import time if you like.

    `host` is a host name or connection string, or a list of them; options are keyword arguments or part of the
    string. Nothing is opened before the first operation; each process
    (after a fork) and each OS thread gets connections of its own.

    Raises ConfigurationError, InvalidURI, TypeError and ValueError for options that are wrong.
    """

    HOST = "localhost"
    PORT = 27017

    __slots__ = ("_host_options", "__weakref__")

    def __init__(self, host: Optional[Union[str, Sequence[str]]] = None, port: Optional[int] = None,
                 document_class: Optional[type[DocumentType]] = None, tz_aware: Optional[bool] = None,
                 connect: Optional[bool] = None, type_registry: Optional[TypeRegistry] = None,
                 **kwargs: Any) -> None:
        options = client_options(host, port, document_class, tz_aware, connect, type_registry, **kwargs)
        _refuse_what_is_missing(options)
        _warn_of_what_has_no_effect(options)
        super().__init__(options.codec_options, options.read_preference, options.write_concern, options.read_concern)
        self._host_options = options
        executor = Executor(options, list(options.seeds))
        self.__geomongo__ = Inside(executor, self._scope("admin", "$cmd"), self)
        weakref.finalize(self, executor.abandon).atexit = False

    # -- databases

    def __getattr__(self, name: str) -> Database[DocumentType]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}. To access the {name} database, "
                                 f"use client[{name!r}].")
        return Database(self, name)

    def __getitem__(self, name: str) -> Database[DocumentType]:
        return Database(self, name)

    def get_database(self, name: Optional[str] = None, codec_options: Any = None, read_preference: Any = None,
                     write_concern: Any = None, read_concern: Any = None) -> Database[DocumentType]:
        """A database with options of its own; those not given are the client's. Without a name, the one that the
        connection string names, else ConfigurationError."""
        if name is None:
            name = self._host_options.database
            if name is None:
                raise ConfigurationError("No default database defined")
        return Database(self, name, codec_options, read_preference, write_concern, read_concern)

    def get_default_database(self, default: Optional[str] = None, codec_options: Any = None,
                             read_preference: Any = None, write_concern: Any = None,
                             read_concern: Any = None) -> Database[DocumentType]:
        """The database that the connection string names, or `default`; else ConfigurationError."""
        name = self._host_options.database or default
        if name is None:
            raise ConfigurationError("No default database name defined or provided.")
        return Database(self, name, codec_options, read_preference, write_concern, read_concern)

    def list_databases(self, session: Session = None, comment: Any = None,
                       **kwargs: Any) -> CommandCursor[dict[str, Any]]:
        """Descriptions of the databases."""
        inside = self._inside(session)
        document = {"listDatabases": 1, **management.options(kwargs, comment)}
        scope = Scope("admin", "$cmd")
        reply = inside.executor.execute(RunCommand(scope, document, ReadPreference.PRIMARY, retry=RETRY_READ), session)
        core = CursorCore(inside.executor, scope, session)
        core.adopt({"id": 0, "ns": "admin.$cmd", "firstBatch": reply["databases"]}, None)
        return opened(core, session, self)

    def list_database_names(self, session: Session = None, comment: Any = None) -> list[str]:
        """Names of the databases."""
        return [found["name"] for found in self.list_databases(session, nameOnly=True, comment=comment)]

    def drop_database(self, name_or_database: Union[str, Database[Any]], session: Session = None,
                      comment: Any = None) -> None:
        """Drop a database; no error where it does not exist."""
        name = name_or_database.name if isinstance(name_or_database, Database) else name_or_database
        if not isinstance(name, str):
            raise TypeError(f"name_or_database must be an instance of str or a Database, not {type(name)}")
        inside = self._inside(session)
        management.write(inside, {"dropDatabase": 1, **management.options({}, comment)}, session, name)

    def server_info(self, session: Session = None) -> dict[str, Any]:
        """Version and build of the server."""
        info: dict[str, Any] = self["admin"].command("buildinfo", read_preference=ReadPreference.PRIMARY,
                                                     session=session)
        return info

    # -- sessions

    def _inside(self, session: Any) -> Inside:
        check_session(session, self)
        inside: Inside = self.__geomongo__
        return inside

    def start_session(self, causal_consistency: Optional[bool] = None,
                      default_transaction_options: Optional[TransactionOptions] = None,
                      snapshot: Optional[bool] = False) -> ClientSession:
        """Start an explicit session. End it with `end_session`, or use it in a `with` block."""
        options = SessionOptions(causal_consistency, default_transaction_options, snapshot)
        if options.snapshot:
            raise ConfigurationError("snapshot: snapshot sessions are not supported yet")
        return ClientSession(self, self.__geomongo__.executor, options)

    # -- the deployment

    @property
    def topology_description(self) -> TopologyDescription:
        """What is known of the deployment now. Does not wait."""
        return self._topology().description

    def _topology(self) -> Topology:
        return self.__geomongo__.executor.deployment().topology

    def pool_stats(self) -> list[PoolStats]:
        """Figures of each server's pool, in this process and on this hub. Does not wait."""
        return [server.stats() for server in self._topology().servers()]

    @property
    def options(self) -> ClientOptions:
        """The client's options, checked and with defaults."""
        return self._host_options

    @property
    def nodes(self) -> frozenset[Address]:
        """Addresses of the servers that have answered."""
        return frozenset(server.address for server in self.topology_description.known_servers)

    @property
    def address(self) -> Optional[Address]:
        """The address of the server that writes go to; waits for one. Raises InvalidOperation for several mongoses."""
        topology = self._topology()
        server = topology.select(None)
        if topology.description.topology_type_name == "Sharded" and len(topology.description.known_servers) > 1:
            raise InvalidOperation('Cannot use "address" property when load balancing among mongoses, '
                                   'use "nodes" instead.')
        return server.address

    def _addresses(self, server_type: int) -> set[Address]:
        return {server.address for server in self.topology_description.known_servers
                if server.server_type == server_type}

    @property
    def primary(self) -> Optional[Address]:
        """The replica set's primary; None where none is known."""
        return next(iter(self._addresses(SERVER_TYPE.RSPrimary)), None)

    @property
    def secondaries(self) -> set[Address]:
        """The replica set's secondaries that are known."""
        return self._addresses(SERVER_TYPE.RSSecondary)

    @property
    def arbiters(self) -> set[Address]:
        """The replica set's arbiters that are known."""
        return self._addresses(SERVER_TYPE.RSArbiter)

    @property
    def is_primary(self) -> bool:
        """Whether the server that is connected to takes writes; waits for one."""
        return bool(self._topology().select(None).description.is_writable)

    @property
    def is_mongos(self) -> bool:
        """Whether the server that is connected to is a mongos; waits for one."""
        return bool(self._topology().select(None).description.mongos)

    def append_metadata(self, driver_info: DriverInfo) -> None:
        """Name a library on top of the driver in the handshakes to come. Raises TypeError."""
        if not isinstance(driver_info, DriverInfo):
            raise TypeError(f"driver_info must be an instance of DriverInfo, not {type(driver_info)}")
        self.__geomongo__.executor.append_metadata(driver_info)

    def close(self) -> None:
        """End sessions, close every connection, wake everyone who waits with InvalidOperation. Again is no error."""
        self.__geomongo__.executor.close()

    def __enter__(self) -> MongoClient[DocumentType]:
        return self

    def __exit__(self, exc_type: Optional[type[BaseException]], exc_val: Optional[BaseException],
                 exc_tb: Optional[TracebackType]) -> None:
        self.close()

    # -- the object

    def eq_props(self) -> tuple[tuple[Address, ...], Optional[str], Optional[str], str]:
        """What makes two clients equal: where they begin, replica set, SRV name and service."""
        options = self._host_options
        return (tuple(sorted(options.seeds, key=str)), options.replica_set, options.fqdn, options.srv_service_name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MongoClient):
            return self.eq_props() == other.eq_props()
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.eq_props())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(_shown(self._host_options))})"

    def __next__(self) -> NoReturn:
        raise TypeError(f"'{type(self).__name__}' object is not iterable")

    next = __next__
    __iter__ = None


def _refuse_what_is_missing(options: ClientOptions) -> None:
    """Better no connection than one without what was asked for."""
    for name, asked in (("mongodb+srv", options.fqdn is not None), ("authentication", options.username is not None
                        or options.auth_mechanism is not None), ("tls", options.tls),
                        ("proxyHost", options.proxy_host is not None), ("loadBalanced", options.load_balanced),
                        ("timeoutMS", options.timeout is not None)):
        if asked:
            raise ConfigurationError(f"{name} is not supported by this version of geomongo")


def _warn_of_what_has_no_effect(options: ClientOptions) -> None:
    """Accepted, so that applications move over unchanged; said aloud, so that nobody relies on it."""
    listeners = group_listeners(options.event_listeners)
    for name, asked in (("compressors", options.compressors), ("minPoolSize", options.min_pool_size),
                        ("listeners of pools", listeners.pool), ("listeners of servers", listeners.server),
                        ("listeners of heartbeats", listeners.heartbeat),
                        ("listeners of topologies", listeners.topology)):
        if asked:
            warnings.warn(f"{name}: no effect in this version of geomongo", UserWarning, stacklevel=3)


def _shown(options: ClientOptions) -> list[str]:
    """The arguments that make such a client, without secrets."""
    hosts = [host if port is None else f"{host}:{port}" for host, port in options.seeds]
    codec = options.codec_options
    shown = [f"host={hosts!r}", f"document_class={_class_name(codec.document_class)}",
             f"tz_aware={codec.tz_aware!r}", f"connect={options.connect!r}"]
    hidden = ("password", "username", "document_class", "tz_aware", "connect", "type_registry")
    given: Mapping[str, Any] = options.given
    return shown + [f"{name}={_as_given(name, value)!r}" for name, value in given.items() if name not in hidden]


def _as_given(name: str, value: Any) -> Any:
    """Durations are kept in seconds and given in milliseconds."""
    return round(value * 1000) if name.endswith("ms") and isinstance(value, float) else value


def _class_name(kind: type) -> str:
    return "dict" if kind is dict else f"{kind.__module__}.{kind.__name__}"
