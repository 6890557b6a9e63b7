"""The command loop: every operation of every public class comes through here.

One attempt is: select a server, check a connection out, build, send, wait, decode, check it in. What is rare (retries,
observers, sessions that somebody owns, connections that stay with a cursor) leaves this path early.
"""
from __future__ import annotations

from typing import Any, Optional

from bson.int64 import Int64

from geomongo import error_rules
from geomongo._bson import DEFAULT_OPTIONS, decode
from geomongo._commands.base import RETRY_WRITE, Command
from geomongo._deployment.connection import Connection, ConnectionInfo, next_request_id
from geomongo._deployment.deployment import Deployment
from geomongo._execution.flight import Flight, Pin
from geomongo._execution.observe import Observers
from geomongo._execution.retry import may_retry, tells_more
from geomongo._execution.sessions import Session
from geomongo._net import fork
from geomongo._net.clock import now
from geomongo._net.sched import current_hub
from geomongo._wire import op_msg
from geomongo._wire.batching import check_size
from geomongo._wire.raw import extract
from geomongo.driver_info import DriverInfo
from geomongo.errors import InvalidOperation, NotPrimaryError, PyMongoError
from geomongo.read_preferences import ReadPreference
from geomongo.typings import Address

#: Replies from this size on are cut, and their documents decoded as they are read; in bytes.
SLICED = 32 * 1024

_PRIMARY = ReadPreference.PRIMARY


class Executor:
    """Runs commands for one client; see the module. `seeds` are where to begin."""

    __slots__ = ("_api", "_closed", "_deployments", "_options", "_seeds", "_single", "_wrappers", "observers",
                 "__weakref__")

    def __init__(self, options: Any, seeds: list[Address]) -> None:
        self._options = options
        self._seeds = seeds
        self._deployments: dict[Any, Deployment] = {}
        self._closed = False
        self._wrappers: tuple[DriverInfo, ...] = (options.driver,) if options.driver else ()
        self._api: Optional[dict[str, Any]] = options.server_api.command_fields() if options.server_api else None
        self._single = bool(options.direct_connection)
        self.observers = Observers(options.event_listeners)
        fork.register(self)

    def execute(self, command: Command, session: Optional[Session] = None, pin: Optional[Pin] = None) -> Any:
        """Run `command` and return what its `parse` makes of the reply.

        Raises PyMongoError and its subclasses, and unchanged whatever is thrown into the waiting greenlet.
        """
        deployment = self._deployments.get(current_hub())
        if deployment is None:
            deployment = self._open()
        flight = Flight(command, session, pin)
        try:
            return self._attempt(flight, deployment)
        except BaseException as error:
            if isinstance(error, PyMongoError) and self._may_retry(flight, error):
                return self._again(flight, deployment, error)
            self._settle(flight, deployment)
            raise

    # -- one attempt

    def _attempt(self, flight: Flight, deployment: Deployment) -> Any:
        command = flight.command
        connection = flight.connection = self._checkout(flight, deployment)
        flight.info = connection.info
        try:
            request_id = next_request_id()
            request = self._request(flight, connection.info, deployment, request_id)
            if command.acknowledged:
                body = connection.round_trip(request, request_id)
                reply, batch = decoded(body, command)
                cluster_time = reply.get("$clusterTime")
                if cluster_time is not None:
                    deployment.advance_cluster_time(cluster_time)
                if flight.session is not None:
                    flight.session.observe(reply)
                if reply.get("ok") != 1 and command.check:
                    error_rules.raise_for_reply(reply, connection.info.max_wire_version, command.allowable)
                if "writeConcernError" in reply:
                    self._see_write_concern_error(reply, connection, deployment)
            else:
                connection.send(request)
                reply = batch = None
            observation = flight.observation
            if observation is not None:
                flight.observation = None  # it has its end, whatever a listener throws
                observation.succeed(reply, batch)
        except BaseException as error:
            self._failed(flight, connection, deployment, error)
            raise
        if flight.pin is None:
            flight.server.pool.checkin(connection)  # type: ignore[union-attr]
        else:
            flight.pin.hold(flight.server, connection)  # type: ignore[arg-type]
        result = command.parse(reply, batch)
        lease = flight.lease
        if lease is not None:
            flight.lease = None
            deployment.sessions.release(lease, now())
        return result

    def _see_write_concern_error(self, reply: Any, connection: Connection, deployment: Deployment) -> None:
        """A server may say there, too, that it is no longer primary or shuts down (SDAM, "Error handling")."""
        error = reply["writeConcernError"]
        if error_rules.code_is_state_change(error.get("code"), error.get("errmsg", "")):
            change = NotPrimaryError(error.get("errmsg", ""), error)
            deployment.topology.on_error(connection.address, connection.generation, change, established=True)

    def _checkout(self, flight: Flight, deployment: Deployment) -> Connection:
        pin = flight.pin
        if pin is not None and pin.connection is not None:
            connection, flight.server = pin.connection, pin.server
            pin.connection = None
            return connection
        topology = deployment.topology
        address = flight.command.address
        server = topology.select(flight.command.preference) if address is None else topology.select_address(address)
        flight.server = server
        return server.pool.checkout()

    def _request(self, flight: Flight, info: ConnectionInfo, deployment: Deployment, request_id: int) -> Any:
        """The message: what the command builds, and what belongs to session, cluster time and preference."""
        command = flight.command
        document = command.build(info)
        if flight.session is not None:
            self._add_session(flight, document, info, deployment)
        elif info.has_sessions and command.acknowledged:
            lease = flight.lease
            if lease is None:
                lease = flight.lease = deployment.sessions.acquire(now())
            document["lsid"] = lease.lsid
        if command.retry == RETRY_WRITE and info.retryable_writes:
            self._add_transaction_number(flight, document)
        if deployment.cluster_time is not None:
            document["$clusterTime"] = self._cluster_time(flight.session, deployment)
        if self._api is not None:
            document.update(self._api)
        document["$db"] = command.scope.database
        preference = command.preference
        if preference is not None and (preference is not _PRIMARY or self._single):
            self._add_read_preference(document, preference, info)
        flags = command.flags if command.acknowledged else op_msg.MORE_TO_COME
        sequence = command.sequence
        if sequence is None:
            request: Any = op_msg.request(request_id, document, command.scope.codec_options, flags)
            if len(request) > info.max_command_size:
                check_size(len(request), info.limits.max_document)
        else:
            request = op_msg.request_with_sequence(request_id, document, command.scope.codec_options,
                                                   sequence.identifier, sequence.documents, flags)
        if self.observers.active():
            self.observers.start(flight, document, request_id)
        return request

    def _add_session(self, flight: Flight, document: dict[str, Any], info: ConnectionInfo,
                     deployment: Deployment) -> None:
        session = flight.session
        assert session is not None
        if not info.has_sessions:
            session.require_support()
            return
        if flight.command.acknowledged or not session.implicit:
            document["lsid"] = session.lease(deployment).lsid
            session.add_to(document, flight.command)

    def _add_transaction_number(self, flight: Flight, document: dict[str, Any]) -> None:
        """Number a retryable write, the same in both attempts."""
        if not self._options.retry_writes:
            return
        server_session = flight.lease if flight.session is None else flight.session.server_session
        if server_session is None:
            return
        if flight.transaction is None:
            server_session.transaction_number += 1
            flight.transaction = Int64(server_session.transaction_number)
        document["txnNumber"] = flight.transaction

    def _cluster_time(self, session: Optional[Session], deployment: Deployment) -> Any:
        """The later of the client's and the session's cluster time."""
        known = deployment.cluster_time
        own = session.cluster_time if session is not None else None
        if own is not None and known is not None and own["clusterTime"] > known["clusterTime"]:
            return own
        return known

    def _add_read_preference(self, document: dict[str, Any], preference: Any, info: ConnectionInfo) -> None:
        """Source: server-selection.md, "Passing read preference to mongos and load balancers", and OP_MSG's rules."""
        if info.is_standalone:
            return
        if self._single and not info.is_mongos:
            if preference.mode == _PRIMARY.mode:
                document["$readPreference"] = {"mode": "primaryPreferred"}
                return
        if preference.mode != _PRIMARY.mode:
            document["$readPreference"] = preference.document

    def exhaust(self, command: Command, session: Optional[Session], pin: Pin) -> Any:
        """The next reply of an exhaust cursor, on the connection that is pinned to it."""
        connection, deployment = pin.connection, self.deployment()
        assert connection is not None
        flight = Flight(command, session, pin)
        flight.server, flight.connection = pin.server, connection
        pin.connection = None
        try:
            request_id = next_request_id()
            request = self._request(flight, connection.info, deployment, request_id)
            message = connection.exhaust_exchange(None if pin.streaming else request, request_id)
            reply, batch = decoded(message.body, command)
            error_rules.raise_for_reply(reply, connection.info.max_wire_version)
            cluster_time = reply.get("$clusterTime")
            if cluster_time is not None:
                deployment.advance_cluster_time(cluster_time)
            if session is not None:
                session.observe(reply)
            observation = flight.observation
            if observation is not None:
                flight.observation = None
                observation.succeed(reply, batch)
        except BaseException as error:
            self._failed(flight, connection, deployment, error)
            self._settle(flight, deployment)
            raise
        pin.streaming = message.more_to_come
        pin.connection = connection
        return command.parse(reply, batch)

    # -- when an attempt fails

    def _failed(self, flight: Flight, connection: Connection, deployment: Deployment, error: BaseException) -> None:
        """Give the connection back and tell topology and observers. Contains no wait but the observers' own."""
        server = flight.server
        assert server is not None
        if not connection.usable:
            if flight.session is not None:
                flight.session.spoil()
            elif flight.lease is not None:
                flight.lease.dirty = True  # a retry may use it, nobody after
        if isinstance(error, PyMongoError):
            deployment.topology.on_error(server.address, connection.generation, error, established=True)
        server.pool.checkin(connection)
        observation, flight.observation = flight.observation, None
        if observation is not None:
            observation.fail(error)

    def _may_retry(self, flight: Flight, error: PyMongoError) -> bool:
        options, info = self._options, flight.info
        numbered = flight.transaction is not None if info is not None else flight.command.acknowledged
        return may_retry(flight.command.retry, error, numbered, None if info is None else info.max_wire_version,
                         info is not None and info.is_mongos, options.retry_reads, options.retry_writes)

    def _again(self, flight: Flight, deployment: Deployment, first: PyMongoError) -> Any:
        """The second and last attempt."""
        try:
            return self._attempt(flight, deployment)
        except PyMongoError as second:
            self._settle(flight, deployment)
            if tells_more(first, second) is second:
                raise
        except BaseException:
            self._settle(flight, deployment)
            raise
        raise first

    def _settle(self, flight: Flight, deployment: Deployment) -> None:
        """The operation is over and has failed: what it borrowed goes back; a dirty session goes nowhere."""
        lease, flight.lease = flight.lease, None
        if lease is not None:
            deployment.sessions.release(lease, now())

    # -- deployments

    def deployment(self) -> Deployment:
        """This process's and hub's deployment, made now where there is none."""
        return self._deployments.get(current_hub()) or self._open()

    def is_current(self, deployment: Optional[Deployment]) -> bool:
        """Whether `deployment` is this process's and hub's, and open."""
        return deployment is not None and self._deployments.get(current_hub()) is deployment

    def _open(self) -> Deployment:
        if self._closed:
            raise InvalidOperation("Cannot use MongoClient after close")
        hub = current_hub()
        for other in [other for other in self._deployments if other.loop is None or other.dead]:
            self._deployments.pop(other).topology.discard()  # the hub of a thread that has ended
        deployment = self._deployments[hub] = Deployment(self._options, self._seeds, self._wrappers)
        return deployment

    def append_metadata(self, wrapper: DriverInfo) -> None:
        """Name another library in the handshakes to come."""
        if wrapper not in self._wrappers:
            self._wrappers += (wrapper,)
            for deployment in self._deployments.values():
                deployment.name_wrappers(self._wrappers)

    def close(self) -> None:
        """Close this hub's deployment with good manners and those of other threads without."""
        self._closed = True
        deployments, self._deployments = self._deployments, {}
        own = deployments.pop(current_hub(), None)
        for deployment in deployments.values():
            deployment.abandon()
        if own is not None:
            own.close()

    def abandon(self) -> None:
        """The client was garbage-collected. Never waits."""
        self._closed = True
        deployments, self._deployments = self._deployments, {}
        for deployment in deployments.values():
            deployment.abandon()

    def after_fork(self) -> None:
        """In a child: begin anew at the first operation."""
        deployments, self._deployments = self._deployments, {}
        for deployment in deployments.values():
            deployment.after_fork()


def decoded(body: Any, command: Command) -> tuple[Any, Optional[memoryview]]:
    """The reply, and the application's part of it, still encoded, where that is large or has its own options."""
    scope = command.scope
    if command.cut is None:
        if command.whole and not scope.plain:
            return decode(body, DEFAULT_OPTIONS), memoryview(body)
        return decode(body, scope.reply_options), None
    if scope.plain and len(body) < SLICED:
        return decode(body, scope.codec_options), None
    cut = extract(body, command.cut)
    if cut is None:
        return decode(body, DEFAULT_OPTIONS), None
    return decode(cut.rest, DEFAULT_OPTIONS), memoryview(cut.value)
