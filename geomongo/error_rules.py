"""Every question about an error, as a named predicate, and the mapping of server replies to exceptions.

Call sites never compare codes or message texts. The code sets are those of the server discovery and
monitoring specification ("Error handling") and of the retryable reads and retryable writes specifications.
"""
from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, NoReturn

from geomongo.errors import (
    AutoReconnect,
    ConnectionFailure,
    CursorNotFound,
    DuplicateKeyError,
    ExecutionTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
    WriteConcernError,
    WriteError,
    WTimeoutError,
)

NETWORK_CODES = frozenset({6, 7, 89, 9001})  # HostUnreachable, HostNotFound, NetworkTimeout, SocketException
SHUTDOWN_CODES = frozenset({91, 11600})  # ShutdownInProgress, InterruptedAtShutdown
# InterruptedDueToReplStateChange, NotPrimaryOrSecondary, PrimarySteppedDown
NODE_IS_RECOVERING_CODES = SHUTDOWN_CODES | {11602, 13436, 189}
# NotWritablePrimary, NotPrimaryNoSecondaryOk, LegacyNotPrimary
NOT_PRIMARY_CODES = frozenset({10107, 13435, 10058})
STATE_CHANGE_CODES = NOT_PRIMARY_CODES | NODE_IS_RECOVERING_CODES
# ExceededTimeLimit is retried for both; ReadConcernMajorityNotAvailableYet for reads only.
RETRYABLE_WRITE_CODES = (STATE_CHANGE_CODES - {10058}) | NETWORK_CODES | {262}
RETRYABLE_READ_CODES = RETRYABLE_WRITE_CODES | {134}
RETRYABLE_CODES = RETRYABLE_READ_CODES

DUPLICATE_KEY_CODES = frozenset({11000, 11001, 12582})
CURSOR_NOT_FOUND = 43
MAX_TIME_MS_EXPIRED = 50
NAMESPACE_NOT_FOUND = 26
NAMESPACE_EXISTS = 48
COMMAND_NOT_FOUND = 59
REAUTHENTICATION_REQUIRED = 391
# Servers from 4.4 on (wire version 9) label retryable write errors themselves.
SERVER_LABELS_RETRYABLE_WRITES = 9

RETRYABLE_WRITE_ERROR = "RetryableWriteError"
TRANSIENT_TRANSACTION_ERROR = "TransientTransactionError"
UNKNOWN_TRANSACTION_COMMIT_RESULT = "UnknownTransactionCommitResult"
NO_WRITES_PERFORMED = "NoWritesPerformed"
RESUMABLE_CHANGE_STREAM_ERROR = "ResumableChangeStreamError"
SYSTEM_OVERLOADED_ERROR = "SystemOverloadedError"
RETRYABLE_ERROR = "RetryableError"


# -- replies

def code_is_state_change(code: int | None, message: str = "") -> bool:
    """Whether a reply says not primary, or recovering; texts count only where there is no code."""
    return code_is_not_primary(code, message) or code_is_recovering(code, message)


def code_is_recovering(code: int | None, message: str = "") -> bool:
    """Whether a code (or, from servers that send none, a text) says "node is recovering"."""
    if code is not None:
        return code in NODE_IS_RECOVERING_CODES
    text = message.lower()
    return "not master or secondary" in text or "node is recovering" in text


def code_is_not_primary(code: int | None, message: str = "") -> bool:
    """Whether a code (or, from servers that send none, a text) says "not writable primary"."""
    if code is not None:
        return code in NOT_PRIMARY_CODES
    return "not master" in message.lower() and not code_is_recovering(None, message)


def raise_for_reply(reply: Mapping[str, Any], max_wire_version: int | None,
                    allowable: Container[Any] | None = None) -> None:
    """Raise what a reply with `ok: 0` means; return for `ok: 1`, whatever write errors it holds.

    `allowable` holds error codes (or, for replies without a code, whole messages) that are no error here.
    """
    if reply.get("ok"):
        return
    source = _failure_of(reply)
    code: int | None = source.get("code")
    message = _message_of(source)
    if allowable is not None and (message if code is None else code) in allowable:
        return
    if code_is_state_change(code, message):
        raise NotPrimaryError(message, reply)
    raise _failure_class(code)(message, code, reply, max_wire_version)


def _failure_of(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document that holds code and message: a mongos may put a shard's error under `raw` only."""
    raw = reply.get("raw")
    if "errmsg" in reply or "$err" in reply or not isinstance(raw, Mapping):
        return reply
    shards = [part for part in raw.values() if isinstance(part, Mapping) and part.get("errmsg")]
    return shards[0] if shards else reply


def _message_of(document: Mapping[str, Any]) -> str:
    message = document.get("errmsg") or document.get("$err")
    return str(message) if message else "the server gave no error message"


def _failure_class(code: int | None) -> type[OperationFailure]:
    if code in DUPLICATE_KEY_CODES:
        return DuplicateKeyError
    if code == MAX_TIME_MS_EXPIRED:
        return ExecutionTimeout
    if code == CURSOR_NOT_FOUND:
        return CursorNotFound
    return OperationFailure


def write_concern_error(reply: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The reply's `writeConcernError`, with the reply's error labels, or None."""
    error: Mapping[str, Any] | None = reply.get("writeConcernError")
    if not error:
        return None
    labels = reply.get("errorLabels")
    return {**error, "errorLabels": labels} if labels else error


def raise_write_concern_error(error: Mapping[str, Any], max_wire_version: int | None = None) -> NoReturn:
    """Raise WriteConcernError, or WTimeoutError where wtimeout ran out."""
    timed_out = (error.get("errInfo") or {}).get("wtimeout")
    kind = WTimeoutError if timed_out else WriteConcernError
    raise kind(_message_of(error), error.get("code"), error, max_wire_version)


def raise_write_error(error: Mapping[str, Any], max_wire_version: int | None = None) -> NoReturn:
    """Raise DuplicateKeyError or WriteError for one entry of `writeErrors`."""
    code = error.get("code")
    kind = DuplicateKeyError if code in DUPLICATE_KEY_CODES else WriteError
    raise kind(_message_of(error), code, error, max_wire_version)


def raise_for_write_concern(reply: Mapping[str, Any]) -> None:
    """Raise the write concern error that a reply reports; return if it reports none."""
    unsatisfied = write_concern_error(reply)
    if unsatisfied is not None:
        raise_write_concern_error(unsatisfied)


def raise_for_write_reply(reply: Mapping[str, Any], max_wire_version: int | None = None) -> None:
    """Raise what the reply to a single write (`ok: 1`) reports: its last write error, else its write concern
    error; return if it reports neither."""
    errors: Sequence[Mapping[str, Any]] | None = reply.get("writeErrors")
    if errors:
        raise_write_error(errors[-1], max_wire_version)
    unsatisfied = write_concern_error(reply)
    if unsatisfied is not None:
        raise_write_concern_error(unsatisfied, max_wire_version)


# -- exceptions

def error_code(error: BaseException) -> int | None:
    """The server's code in an exception, or None."""
    if isinstance(error, OperationFailure):
        return error.code
    details = getattr(error, "details", None)
    if not isinstance(details, Mapping):
        return None
    code: int | None = details.get("code")
    return code


def is_state_change(error: BaseException) -> bool:
    """Whether the server must be marked Unknown because it is not primary or is recovering."""
    return isinstance(error, NotPrimaryError)


def is_not_primary(error: BaseException) -> bool:
    """Whether the server said "not writable primary"."""
    return isinstance(error, NotPrimaryError) and code_is_not_primary(error_code(error), str(error))


def is_node_recovering(error: BaseException) -> bool:
    """Whether the server said that it is recovering (which includes shutting down)."""
    return isinstance(error, NotPrimaryError) and code_is_recovering(error_code(error), str(error))


def is_shutdown(error: BaseException) -> bool:
    """Whether the server said that it shuts down: its pool is cleared whatever its version."""
    return error_code(error) in SHUTDOWN_CODES


def is_network_error(error: BaseException) -> bool:
    """Whether a connection failed (timeouts included), as opposed to a server's answer or a local wait."""
    local = (NotPrimaryError, ServerSelectionTimeoutError, WaitQueueTimeoutError)
    return isinstance(error, ConnectionFailure) and not isinstance(error, local)


def is_network_timeout(error: BaseException) -> bool:
    """Whether a connection failed because it did not answer in time."""
    return is_network_error(error) and is_timeout(error)


def is_timeout(error: BaseException) -> bool:
    """Whether some time limit ran out."""
    return isinstance(error, PyMongoError) and error.timeout


def is_retryable_read(error: BaseException) -> bool:
    """Retryable reads specification, "Retryable Error"."""
    if isinstance(error, NotPrimaryError) or is_network_error(error):
        return True
    return isinstance(error, OperationFailure) and error_code(error) in RETRYABLE_READ_CODES


def is_retryable_write(error: BaseException) -> bool:
    """Whether a write may be retried: errors are labelled first (`needs_retryable_write_label`)."""
    return isinstance(error, PyMongoError) and error.has_error_label(RETRYABLE_WRITE_ERROR)


def needs_retryable_write_label(error: BaseException, max_wire_version: int | None,
                                is_mongos: bool = False) -> bool:
    """Whether the driver adds RetryableWriteError itself (retryable writes specification, "Determining
    Retryable Errors"): for network errors always, for codes only where the server does not label."""
    if is_network_error(error):
        return True
    if isinstance(error, WriteError):
        return False  # the statement failed, not the attempt
    if max_wire_version is not None and max_wire_version >= SERVER_LABELS_RETRYABLE_WRITES:
        return False
    if isinstance(error, WriteConcernError) and is_mongos:
        return False
    known = isinstance(error, (OperationFailure, NotPrimaryError))
    return known and (is_state_change(error) or error_code(error) in RETRYABLE_WRITE_CODES)


def needs_transient_transaction_label(error: BaseException) -> bool:
    """Whether an error inside a transaction, before its commit, is labelled by the driver (transactions
    specification, "TransientTransactionError")."""
    return is_network_error(error) or isinstance(error, ServerSelectionTimeoutError)


def is_auto_reconnect(error: BaseException) -> bool:
    """Whether the connection was lost or the server stepped down."""
    return isinstance(error, AutoReconnect)


def is_reauthentication_required(error: BaseException) -> bool:
    """Whether the server asks for authentication again on this connection."""
    return error_code(error) == REAUTHENTICATION_REQUIRED


def is_namespace_not_found(error: BaseException) -> bool:
    """Whether the collection or database does not exist. Very old servers gave a text and no code."""
    return _has_code_or_text(error, NAMESPACE_NOT_FOUND, "ns not found")


def is_namespace_exists(error: BaseException) -> bool:
    """Whether the collection exists already."""
    return error_code(error) == NAMESPACE_EXISTS


def is_command_not_found(error: BaseException) -> bool:
    """Whether the server does not know the command."""
    return _has_code_or_text(error, COMMAND_NOT_FOUND, "no such command")


def _has_code_or_text(error: BaseException, code: int, text: str) -> bool:
    if not isinstance(error, OperationFailure):
        return False
    return error.code == code or (error.code is None and text in str(error))
