"""Whether a failed attempt is followed by another.

Source: specifications/source/retryable-reads/retryable-reads.md and retryable-writes/retryable-writes.md.
"""
from __future__ import annotations

from typing import Optional

from geomongo import error_rules
from geomongo._commands.base import RETRY_READ, RETRY_WRITE
from geomongo.errors import PyMongoError, ServerSelectionTimeoutError


def may_retry(kind: int, error: PyMongoError, numbered: bool, wire_version: Optional[int], is_mongos: bool,
              reads: bool, writes: bool) -> bool:
    """Whether an operation that failed with `error` may be tried once more.

    `kind` is the command's `retry`; `numbered` says that a transaction number makes a second write harmless, or that
    nothing was sent yet; `wire_version` and `is_mongos` are the failing server's, where one was reached; `reads` and
    `writes` the client's retryReads and retryWrites.
    """
    if kind == RETRY_READ:
        return reads and error_rules.is_retryable_read(error)
    if kind == RETRY_WRITE and writes and numbered:
        if error_rules.needs_retryable_write_label(error, wire_version, is_mongos):
            error.add_error_label(error_rules.RETRYABLE_WRITE_ERROR)
        return error_rules.is_retryable_write(error)
    return False


def tells_more(first: PyMongoError, second: PyMongoError) -> PyMongoError:
    """Of the failures of both attempts, the one that the application gets."""
    no_server = isinstance(second, ServerSelectionTimeoutError)
    return first if no_server or second.has_error_label(error_rules.NO_WRITES_PERFORMED) else second
