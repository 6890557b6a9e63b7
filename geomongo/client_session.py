"""Explicit sessions: `MongoClient.start_session`.

Source: specifications/source/sessions/driver-sessions.md; MongoDB manual, "Client Sessions".
"""
from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Optional

from bson.timestamp import Timestamp

from geomongo._execution.executor import Executor
from geomongo._execution.sessions import Session
from geomongo._local import Local
from geomongo._net import fork
from geomongo.errors import ConfigurationError, InvalidOperation
from geomongo.read_concern import ReadConcern
from geomongo.read_preferences import ServerMode
from geomongo.write_concern import WriteConcern

if TYPE_CHECKING:
    from geomongo.mongo_client import MongoClient

__all__ = ["ClientSession", "SessionOptions", "TransactionOptions"]


def _require(name: str, value: Any, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be an instance of {kind.__module__}.{kind.__name__}, not {type(value)}")


class TransactionOptions:
    """What a transaction is begun with. `max_commit_time_ms` is in milliseconds.

    Raises TypeError for wrong types, ConfigurationError for an unacknowledged write concern.
    """

    def __init__(self, read_concern: Optional[ReadConcern] = None, write_concern: Optional[WriteConcern] = None,
                 read_preference: Optional[ServerMode] = None, max_commit_time_ms: Optional[int] = None) -> None:
        _require("read_concern", read_concern, ReadConcern)
        _require("write_concern", write_concern, WriteConcern)
        if write_concern is not None and not write_concern.acknowledged:
            raise ConfigurationError("transactions do not support unacknowledged write concern: "
                                     f"{write_concern!r}")
        if read_preference is not None and not isinstance(read_preference, ServerMode):
            raise TypeError(f"{read_preference!r} is not valid for read_preference. "
                            "See geomongo.read_preferences for valid options.")
        _require("max_commit_time_ms", max_commit_time_ms, int)
        self._values = (read_concern, write_concern, read_preference, max_commit_time_ms)

    @property
    def read_concern(self) -> Optional[ReadConcern]:
        """Read concern of the transaction."""
        return self._values[0]

    @property
    def write_concern(self) -> Optional[WriteConcern]:
        """Write concern of commit and abort."""
        return self._values[1]

    @property
    def read_preference(self) -> Optional[ServerMode]:
        """Read preference of the transaction."""
        return self._values[2]

    @property
    def max_commit_time_ms(self) -> Optional[int]:
        """maxTimeMS of commitTransaction, in milliseconds."""
        return self._values[3]


class SessionOptions:
    """What a session is started with. Raises TypeError and ConfigurationError."""

    def __init__(self, causal_consistency: Optional[bool] = None,
                 default_transaction_options: Optional[TransactionOptions] = None,
                 snapshot: Optional[bool] = False) -> None:
        if snapshot:
            if causal_consistency:
                raise ConfigurationError("snapshot reads do not support causal_consistency=True")
            causal_consistency = False
        elif causal_consistency is None:
            causal_consistency = True
        _require("default_transaction_options", default_transaction_options, TransactionOptions)
        self._causal_consistency = causal_consistency
        self._default_transaction_options = default_transaction_options
        self._snapshot = snapshot

    @property
    def causal_consistency(self) -> bool:
        """Whether reads see what the session has written and read before."""
        return self._causal_consistency

    @property
    def default_transaction_options(self) -> Optional[TransactionOptions]:
        """Options of transactions that give none of their own."""
        return self._default_transaction_options

    @property
    def snapshot(self) -> Optional[bool]:
        """Whether reads see one point in time."""
        return self._snapshot


class ClientSession(Local, Session):
    """A session; made by `MongoClient.start_session` only. Use it from one greenlet at a time."""

    __slots__ = ("__weakref__", "_client", "_executor", "_options")

    def __init__(self, client: MongoClient[Any], executor: Executor, options: SessionOptions) -> None:
        super().__init__(implicit=False, causal_consistency=options.causal_consistency)
        self._client = client
        self._executor = executor
        self._options = options
        fork.register(self)

    def after_fork(self) -> None:
        """In a child: the session is the parent's, and so is what it has borrowed."""
        self.inherited = True
        self.server_session = None

    @property
    def client(self) -> MongoClient[Any]:
        """The client that started it."""
        return self._client

    @property
    def options(self) -> SessionOptions:
        """The options it was started with."""
        return self._options

    @property
    def has_ended(self) -> bool:
        """Whether `end_session` was called."""
        return self.ended

    @property
    def session_id(self) -> Mapping[str, Any]:
        """The lsid. Raises InvalidOperation where the session has ended."""
        return self.lease(self._executor.deployment()).lsid

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""
        return False

    def advance_cluster_time(self, cluster_time: Mapping[str, Any]) -> None:
        """Take over the cluster time of another session. Raises TypeError, ValueError."""
        if not isinstance(cluster_time, Mapping):
            raise TypeError(f"cluster_time must be a subclass of collections.Mapping, not {type(cluster_time)}")
        if not isinstance(cluster_time.get("clusterTime"), Timestamp):
            raise ValueError("Invalid cluster_time")
        self.see_cluster_time(cluster_time)

    def advance_operation_time(self, operation_time: Timestamp) -> None:
        """Take over the operation time of another session. Raises TypeError."""
        if not isinstance(operation_time, Timestamp):
            raise TypeError("operation_time must be an instance of bson.timestamp.Timestamp, "
                            f"not {type(operation_time)}")
        if self.operation_time is None or operation_time > self.operation_time:
            self.operation_time = operation_time

    def end_session(self) -> None:
        """Give the server session back; again is no error."""
        if not self.ended:
            self.end()

    def check_client(self, client: Any) -> None:
        """Raise InvalidOperation where the session belongs to another client or has ended."""
        if self.ended:
            raise InvalidOperation("Cannot use ended session")
        if client is not self._client:
            raise InvalidOperation("Can only use session with the MongoClient that started it")

    def __enter__(self) -> ClientSession:
        if self.ended:
            raise InvalidOperation("Cannot use ended session")
        return self

    def __exit__(self, exc_type: Optional[type[BaseException]], exc_val: Optional[BaseException],
                 exc_tb: Optional[TracebackType]) -> None:
        self.end_session()

    def __copy__(self) -> NoReturn:
        raise TypeError("A ClientSession cannot be copied, create a new session instead")
