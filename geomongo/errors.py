"""The exceptions that geomongo raises: the tree, and what each of them can tell.

Names, bases, arguments and attributes are those of PyMongo 4, so `except` clauses keep working. Which server
reply becomes which exception, and every question about a code, is decided in `geomongo.error_rules`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from bson.errors import InvalidDocument

__all__ = [
    "AutoReconnect",
    "BulkWriteError",
    "ClientBulkWriteException",
    "CollectionInvalid",
    "ConfigurationError",
    "ConnectionFailure",
    "CursorNotFound",
    "DocumentTooLarge",
    "DuplicateKeyError",
    "EncryptedCollectionError",
    "EncryptionError",
    "ExecutionTimeout",
    "InvalidDocument",
    "InvalidName",
    "InvalidOperation",
    "InvalidURI",
    "NetworkTimeout",
    "NotPrimaryError",
    "OperationFailure",
    "ProtocolError",
    "PyMongoError",
    "ServerSelectionTimeoutError",
    "WTimeoutError",
    "WaitQueueTimeoutError",
    "WriteConcernError",
    "WriteError",
]

MAX_TIME_MS_EXPIRED = 50
MULTIPLE_ERRORS_OCCURRED = 65

Details = Mapping[str, Any] | Sequence[Any]


def _with_details(message: str, details: Details | None) -> str:
    return message if details is None else f"{message}, full error: {details}"


def _ran_out_of_time(error: Mapping[str, Any]) -> bool:
    """Whether a write error or write concern error document reports maxTimeMS or wtimeout."""
    return error.get("code") == MAX_TIME_MS_EXPIRED or bool(error.get("errInfo", {}).get("wtimeout"))


class PyMongoError(Exception):
    """The base of every exception of the driver.

    `error_labels` are strings by which servers and the driver classify errors (`has_error_label`).
    """

    def __init__(self, message: str = "", error_labels: Iterable[str] | None = None) -> None:
        super().__init__(message)
        self._message = message
        self._error_labels: set[str] = set(error_labels or ())

    def has_error_label(self, label: str) -> bool:
        """Whether this error carries the given label."""
        return label in self._error_labels

    def add_error_label(self, label: str) -> None:
        """Attach a label; attaching it twice changes nothing."""
        self._error_labels.add(label)

    def remove_error_label(self, label: str) -> None:
        """Take a label off; it need not be there."""
        self._error_labels.discard(label)

    @property
    def error_labels(self) -> frozenset[str]:
        """All labels of this error."""
        return frozenset(self._error_labels)

    @property
    def timeout(self) -> bool:
        """Whether the operation failed because some time limit ran out."""
        return False


class ProtocolError(PyMongoError):
    """The other side broke the wire protocol; the connection is closed."""


class ConnectionFailure(PyMongoError):
    """A connection could not be made or was lost."""


class WaitQueueTimeoutError(ConnectionFailure):
    """No connection of the pool became free in time."""

    @property
    def timeout(self) -> bool:
        return True


class AutoReconnect(ConnectionFailure):
    """A connection was lost; the next operation tries to connect again.

    The interrupted operation may or may not have taken effect. `errors` and `details` hold the server's
    reply where there is one, else a list of the errors behind this one.
    """

    errors: Details
    details: Details

    def __init__(self, message: str = "", errors: Details | None = None) -> None:
        labels = errors.get("errorLabels") if isinstance(errors, Mapping) else None
        super().__init__(message, labels)
        self.errors = self.details = [] if errors is None else errors


class NetworkTimeout(AutoReconnect):
    """A connection did not answer in time; whether the operation took effect is unknown."""

    @property
    def timeout(self) -> bool:
        return True


class NotPrimaryError(AutoReconnect):
    """The server is not, or no longer, the primary, or is recovering."""

    def __init__(self, message: str = "", errors: Details | None = None) -> None:
        super().__init__(_with_details(message, errors), errors)


class ServerSelectionTimeoutError(AutoReconnect):
    """No suitable server was found within serverSelectionTimeoutMS."""

    @property
    def timeout(self) -> bool:
        return True


class ConfigurationError(PyMongoError):
    """Options are wrong or contradict each other."""


class OperationFailure(PyMongoError):
    """The server answered that an operation failed.

    `code` is the server's error code, `details` its whole reply, `max_wire_version` the highest wire version
    of the server that answered (all None where unknown).
    """

    def __init__(self, error: str, code: int | None = None, details: Mapping[str, Any] | None = None,
                 max_wire_version: int | None = None) -> None:
        labels = None if details is None else details.get("errorLabels")
        super().__init__(_with_details(error, details), labels)
        self.__code = code
        self.__details = details
        self.__max_wire_version = max_wire_version

    @property
    def max_wire_version(self) -> int | None:
        return self.__max_wire_version

    @property
    def code(self) -> int | None:
        return self.__code

    @property
    def details(self) -> Mapping[str, Any] | None:
        return self.__details

    @property
    def timeout(self) -> bool:
        return self.__code == MAX_TIME_MS_EXPIRED


class CursorNotFound(OperationFailure):
    """The server no longer knows the cursor."""


class ExecutionTimeout(OperationFailure):
    """The operation took longer than its maxTimeMS."""

    @property
    def timeout(self) -> bool:
        return True


class WriteConcernError(OperationFailure):
    """The write was applied, but its write concern was not satisfied."""


class WTimeoutError(WriteConcernError):
    """The write concern was not satisfied within wtimeout milliseconds."""

    @property
    def timeout(self) -> bool:
        return True


class WriteError(OperationFailure):
    """The server refused a write."""


class DuplicateKeyError(WriteError):
    """A write would have broken a unique index."""


class BulkWriteError(OperationFailure):
    """At least one write of a bulk failed; `details` is the result so far, with `writeErrors`."""

    details: Mapping[str, Any]

    def __init__(self, results: Mapping[str, Any]) -> None:
        super().__init__("batch op errors occurred", MULTIPLE_ERRORS_OCCURRED, results)

    def __reduce__(self) -> tuple[Any, Any]:
        return self.__class__, (self.details,)

    @property
    def timeout(self) -> bool:
        # The last error is the one that ended the bulk.
        for kind in ("writeConcernErrors", "writeErrors"):
            errors = self.details.get(kind)
            if errors and _ran_out_of_time(errors[-1]):
                return True
        return False


class ClientBulkWriteException(OperationFailure):
    """`MongoClient.bulk_write` failed, as a whole (`error`) or in some of its writes."""

    details: Mapping[str, Any]
    verbose: bool
    # Set by geomongo.results: a result class needs these errors, so it cannot be imported here.
    partial_result_factory: ClassVar[Callable[..., Any] | None] = None

    def __init__(self, results: Mapping[str, Any], verbose: bool) -> None:
        super().__init__("batch op errors occurred", MULTIPLE_ERRORS_OCCURRED, results)
        self.verbose = verbose

    def __reduce__(self) -> tuple[Any, Any]:
        return self.__class__, (self.details, self.verbose)

    @property
    def error(self) -> Any | None:
        """What ended the bulk as a whole, or None."""
        return self.details.get("error")

    @property
    def write_concern_errors(self) -> Any:
        return self.details.get("writeConcernErrors", [])

    @property
    def write_errors(self) -> Any:
        return self.details.get("writeErrors", {})

    @property
    def partial_result(self) -> Any | None:
        """The result of the writes that succeeded (a ClientBulkWriteResult), or None if none did."""
        make = type(self).partial_result_factory
        if make is None or not self.details.get("anySuccessful"):
            return None
        return make(self.details, acknowledged=True, has_verbose_results=self.verbose)


class InvalidOperation(PyMongoError):
    """The object cannot do this now (closed, already used, ...)."""


class InvalidName(PyMongoError):
    """A database or collection name is not allowed."""


class CollectionInvalid(PyMongoError):
    """Collection validation failed, or the collection exists already."""


class InvalidURI(ConfigurationError):
    """A connection string cannot be parsed."""


class DocumentTooLarge(InvalidDocument):
    """An encoded document is larger than the server accepts."""


class EncryptionError(PyMongoError):
    """Encrypting or decrypting failed; `cause` says why."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.__cause = cause

    def __reduce__(self) -> tuple[Any, Any]:
        return self.__class__, (self.__cause,)

    @property
    def cause(self) -> Exception:
        return self.__cause

    @property
    def timeout(self) -> bool:
        return isinstance(self.__cause, PyMongoError) and self.__cause.timeout


class EncryptedCollectionError(EncryptionError):
    """Creating a collection with encrypted fields failed; `encrypted_fields` is how far it came."""

    def __init__(self, cause: Exception, encrypted_fields: Mapping[str, Any]) -> None:
        super().__init__(cause)
        self.__encrypted_fields = encrypted_fields

    def __reduce__(self) -> tuple[Any, Any]:
        return self.__class__, (self.cause, self.__encrypted_fields)

    @property
    def encrypted_fields(self) -> Mapping[str, Any]:
        return self.__encrypted_fields
