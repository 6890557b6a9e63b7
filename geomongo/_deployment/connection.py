"""One connection: its handshake, its round trips, and what the server said it can do."""
from __future__ import annotations

import itertools
from typing import Any, Mapping, Optional

from bson.errors import InvalidBSON

from geomongo import error_rules
from geomongo._auth.handshake import Conversation, Introduction, Step, handshake
from geomongo._bson import DEFAULT_OPTIONS, decode
from geomongo._net.clock import now
from geomongo._net.dial import dial, name_of
from geomongo._net.sched import TimeLimit
from geomongo._net.stream import Request, Stream
from geomongo._sdam import hello
from geomongo._sdam.server_description import ServerDescription
from geomongo._wire import op_msg, op_query
from geomongo._wire.batching import STATEMENT_ALLOWANCE, Limits
from geomongo._wire.framing import DEFAULT_MAX_MESSAGE_SIZE, MAX_REQUEST_ID, message_length
from geomongo.errors import NetworkTimeout, ProtocolError
from geomongo.server_type import SERVER_TYPE
from geomongo.typings import Address

_request_ids = itertools.count(1)


def next_request_id() -> int:
    """A number for a request that no other request under way carries."""
    return next(_request_ids) & MAX_REQUEST_ID or next(_request_ids) & MAX_REQUEST_ID


class ConnectionInfo:
    """What the handshake told: limits, abilities, the server's type."""

    __slots__ = ("address", "has_sessions", "is_mongos", "is_standalone", "limits", "max_command_size",
                 "max_message_size", "max_wire_version", "retryable_writes", "server_connection_id",
                 "server_type", "service_id")

    def __init__(self, address: Address, reply: Mapping[str, Any]) -> None:
        description = ServerDescription(address, reply)
        self.address = address
        self.server_type = description.server_type
        self.is_mongos = description.server_type in (SERVER_TYPE.Mongos, SERVER_TYPE.LoadBalancer)
        self.is_standalone = description.server_type == SERVER_TYPE.Standalone
        self.max_wire_version = description.max_wire_version
        self.max_message_size = description.max_message_size
        self.limits = Limits(description.max_bson_size, description.max_message_size,
                             description.max_write_batch_size)
        self.max_command_size = description.max_bson_size + STATEMENT_ALLOWANCE
        self.has_sessions = description.logical_session_timeout_minutes is not None
        self.retryable_writes = description.retryable_writes_supported
        self.server_connection_id: Optional[int] = reply.get("connectionId")
        self.service_id: Any = reply.get("serviceId")


class Connection:
    """A stream on which the handshake is done. `generation` is the pool's at the time it was opened."""

    __slots__ = ("_server_api", "_stream", "address", "generation", "hello", "id", "idle_since", "info",
                 "socket_timeout")

    def __init__(self, stream: Stream, address: Address, reply: Mapping[str, Any], generation: int, number: int,
                 socket_timeout: Optional[float],
                 server_api: Optional[Mapping[str, Any]] = None) -> None:
        self._stream = stream
        self._server_api = server_api or {}
        self.address = address
        self.hello = reply
        self.info = ConnectionInfo(address, reply)
        self.generation = generation
        self.id = number
        self.socket_timeout = socket_timeout
        self.idle_since = 0.0

    @property
    def usable(self) -> bool:
        """Whether the next operation may use it: open, and no reply is under way."""
        return not (self._stream.busy or self._stream.closed)

    def round_trip(self, request: Request, request_id: int) -> Any:
        """Send `request` and return the encoded body of its reply."""
        try:
            if self.socket_timeout is not None:
                return op_msg.reply_body(self._timed_exchange(request), request_id)
            message = self._stream.exchange(request, message_length, self.info.max_message_size)
            return op_msg.reply_body(message, request_id)
        except ProtocolError as error:
            raise self._refused(error) from error

    def _refused(self, error: ProtocolError) -> ProtocolError:
        """What follows on this connection cannot be trusted either."""
        self.close()
        return ProtocolError(f"{self._stream.name}: {error} (phase: receive)")

    def send(self, request: Request) -> None:
        """Send a request that the server does not answer."""
        with TimeLimit(self.socket_timeout):
            self._stream.send(request)
            return
        raise self._timed_out("send")

    def exhaust_exchange(self, request: Optional[Request], request_id: int) -> op_msg.Reply:
        """One reply of an exhaust cursor; `request` is None where the server sends it unasked.

        While more replies are to come the connection stays unusable for anything else.
        """
        with TimeLimit(self.socket_timeout):
            return self._exhaust_exchange(request, request_id)
        raise self._timed_out("receive")

    def _exhaust_exchange(self, request: Optional[Request], request_id: int) -> op_msg.Reply:
        stream = self._stream
        try:
            if request is not None:
                stream.send(request)
            # Not `exchange`, which reads what has come: here more than one reply may have.
            message = stream.receive(message_length, self.info.max_message_size)
            stream.busy = True
            reply = op_msg.parse(message, request_id if request is not None else response_to(message))
        except ProtocolError as error:
            raise self._refused(error) from error
        stream.busy = reply.more_to_come
        return reply

    def _timed_exchange(self, request: Request) -> Any:
        with TimeLimit(self.socket_timeout, self._stream.background):
            return self._stream.exchange(request, message_length, self.info.max_message_size)
        raise self._timed_out("receive")

    def _timed_out(self, phase: str) -> NetworkTimeout:
        return NetworkTimeout(f"{self._stream.name}: timed out (phase: {phase}; socketTimeoutMS is "
                              f"{self.socket_timeout} s)")

    def command(self, database: str, document: Mapping[str, Any], check: bool = True) -> Mapping[str, Any]:
        """Run a command of the driver's own, outside of any operation. Raises as operations do."""
        request_id = next_request_id()
        body = {**document, **self._server_api, "$db": database}
        encoded = self.round_trip(op_msg.request(request_id, body, DEFAULT_OPTIONS), request_id)
        try:
            reply = _decoded(encoded)
        except ProtocolError as error:
            raise self._refused(error) from error
        if check:
            error_rules.raise_for_reply(reply, self.info.max_wire_version)
        return reply

    def ask_hello(self) -> Mapping[str, Any]:
        """Ask the server again who it is."""
        name = "hello" if self.hello.get("helloOk") else "ismaster"
        reply = self.command("admin", {name: 1})
        try:
            hello.check(reply)
        except ProtocolError as error:
            raise self._refused(error) from error
        return reply

    def discard(self) -> None:
        """Close the socket of a hub that is gone."""
        self._stream.discard()

    def close(self) -> None:
        """Close the socket. Never waits."""
        self._stream.close()


def response_to(message: Any) -> int:
    """The request that `message` answers, by its own word."""
    return int.from_bytes(message[8:12], "little", signed=True)


def establish(address: Address, introduction: Introduction, generation: int, number: int,
              connect_timeout: Optional[float], socket_timeout: Optional[float],
              background: bool = False) -> Connection:
    """Dial `address` and shake hands; `connect_timeout` in seconds covers both.

    Raises AutoReconnect, NetworkTimeout or ProtocolError. A kill closes the socket.
    """
    host, port = address
    started = now()
    stream = dial(host, port, connect_timeout, background)
    left = None if connect_timeout is None else max(0.0, connect_timeout - (now() - started))
    try:
        reply = _converse(stream, handshake(introduction), left, name_of(host, port))
        return Connection(stream, address, reply, generation, number, socket_timeout,
                          introduction.server_api)
    except BaseException:
        stream.close()
        raise


def _converse(stream: Stream, conversation: Conversation, seconds: Optional[float], name: str) -> Mapping[str, Any]:
    with TimeLimit(seconds, stream.background):
        try:
            return _run(stream, conversation)
        except ProtocolError as error:
            raise ProtocolError(f"{name}: {error} (phase: handshake)") from error
    raise NetworkTimeout(f"{name}: the server did not answer the handshake within connectTimeoutMS "
                         "(phase: handshake); is this a MongoDB server, and does it want TLS?")


def _run(stream: Stream, conversation: Conversation) -> Mapping[str, Any]:
    reply: Optional[Mapping[str, Any]] = None
    while True:
        try:
            step = next(conversation) if reply is None else conversation.send(reply)
        except StopIteration as done:
            result: Mapping[str, Any] = done.value
            hello.check(result)
            return result
        reply = _step(stream, step)


def _step(stream: Stream, step: Step) -> Mapping[str, Any]:
    request_id = next_request_id()
    if step.legacy:
        message = stream.exchange(op_query.request(request_id, step.document), message_length,
                                  DEFAULT_MAX_MESSAGE_SIZE)
        body: Any = op_query.reply_body(message, request_id)
    else:
        document = {**step.document, "$db": step.database}
        message = stream.exchange(op_msg.request(request_id, document, DEFAULT_OPTIONS), message_length,
                                  DEFAULT_MAX_MESSAGE_SIZE)
        body = op_msg.reply_body(message, request_id)
    return _decoded(body)


def _decoded(body: Any) -> dict[str, Any]:
    try:
        reply: dict[str, Any] = decode(body, DEFAULT_OPTIONS)
    except InvalidBSON as error:
        raise ProtocolError(f"the reply is not a BSON document: {error}") from error
    return reply
