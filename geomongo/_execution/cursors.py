"""The inside of every cursor: documents that have arrived, and how to get more.

A large batch stays encoded and is decoded in slices as it is read; between slices others get their turn of the hub.
"""
from __future__ import annotations

import gc
from collections import deque
from typing import Any, Optional

from geomongo._bson import RAW_OPTIONS, decode_many
from geomongo._commands.base import Scope
from geomongo._commands.find import CursorCommand, ExhaustGetMore, GetMore, KillCursors
from geomongo._deployment.deployment import Deployment, DroppedCursor
from geomongo._execution.executor import Executor
from geomongo._execution.flight import Pin
from geomongo._execution.sessions import Session
from geomongo._net import fork
from geomongo._net.sched import Pacer
from geomongo._wire.raw import EMPTY_DOCUMENT, ArrayReader
from geomongo.errors import CursorNotFound, InvalidOperation, OperationFailure, PyMongoError
from geomongo.typings import Address

#: How much of a batch is decoded at once, in bytes.
SLICE = 64 * 1024


class CursorCore:
    """One cursor. `documents` is what the application reads from; `fetch` fills it.

    `cursor_id` is 0 once the server holds nothing more, None before the cursor was opened. `limit` bounds what is
    asked for. `raw` cursors yield whole batches, encoded.
    """

    __slots__ = ("__weakref__", "_deployment", "_executor", "_inherited", "_pacer", "_raw_batch", "_reader",
                 "_scope", "address", "batch_size", "collection", "comment", "cursor_id", "documents", "killed",
                 "limit", "max_await_time_ms", "pin", "post_batch_resume_token", "raw", "retrieved", "session")

    def __init__(self, executor: Executor, scope: Scope, session: Optional[Session], batch_size: int = 0,
                 limit: int = 0, raw: bool = False, exhaust: bool = False) -> None:
        self._executor = executor
        self._scope = raw_scope(scope) if raw else scope
        self._deployment: Optional[Deployment] = None
        self._reader: Optional[ArrayReader] = None
        self._raw_batch: Optional[memoryview] = None
        self._inherited = False
        self._pacer: Optional[Pacer] = None
        self.session = Session() if session is None else session
        self.documents: deque[Any] = deque()
        self.cursor_id: Optional[int] = None
        self.killed = False
        self.address: Optional[Address] = None
        self.collection = scope.collection
        self.batch_size = batch_size
        self.limit = limit
        self.raw = raw
        self.retrieved = 0
        self.comment: Any = None
        self.max_await_time_ms: Optional[int] = None
        self.pin: Optional[Pin] = Pin() if exhaust else None
        self.post_batch_resume_token: Any = None

    @property
    def scope(self) -> Scope:
        """The scope that commands of this cursor need."""
        return self._scope

    def open(self, command: CursorCommand) -> None:
        """Run the command that opens the cursor."""
        self._deployment = self._executor.deployment()
        try:
            cursor, batch = self._executor.execute(command, self.session, self.pin)
        except BaseException:
            self._finish()
            raise
        if cursor is None:
            self._finish()  # the command has opened none
            return
        self.address = command.answered_by
        _, _, name = str(cursor.get("ns", "")).partition(".")
        self.collection = name or self._scope.collection
        self._take(cursor, "firstBatch", batch)

    def adopt(self, cursor: Any, address: Optional[Address]) -> None:
        """Go on with a cursor that another command has opened."""
        self._deployment = self._executor.deployment()
        self.address = address
        _, _, name = str(cursor.get("ns", "")).partition(".")
        self.collection = name or self._scope.collection
        self._take(cursor, "firstBatch", None)

    def _take(self, cursor: Any, field: str, batch: Optional[memoryview]) -> None:
        """What a reply brought."""
        fork.register(self)
        self.cursor_id = int(cursor["id"])
        self.post_batch_resume_token = cursor.get("postBatchResumeToken")
        if batch is None:
            documents = cursor[field]
            self.retrieved += len(documents)
            self.documents.extend(documents)
        elif len(batch) > len(EMPTY_DOCUMENT):
            self._set_batch(batch)
        if not self.cursor_id:
            self._finish()

    def after_fork(self) -> None:
        """In a child: what has arrived is the parent's to read, and the cursor the parent's to close."""
        self._inherited = True
        self.killed = True
        self.documents.clear()
        self._reader = self._raw_batch = None

    def _set_batch(self, batch: memoryview) -> None:
        self._pacer = Pacer()
        if self.raw:
            self._raw_batch = batch
        else:
            self._reader = ArrayReader(batch)

    def _join_raw(self, batch: memoryview) -> None:
        """The whole batch as one value. Interrupted, it begins anew: nothing of it is lost."""
        assert self._pacer is not None
        reader, parts = ArrayReader(batch), []
        while not reader.exhausted:
            self._pacer()
            parts.append(reader.take(SLICE))
        self._raw_batch = None
        self.documents.append(b"".join(parts))

    def fetch(self) -> bool:
        """Put at least one document into `documents`; False where there is none now.

        That is the end of the cursor if `cursor_id` is 0; else a tailable cursor has nothing yet.
        """
        if self._inherited:
            raise InvalidOperation("a cursor that was opened before a fork cannot be used in the child: open another")
        if self._reader is None and self._raw_batch is None and self.cursor_id and not self.killed:
            if self.limit and self.retrieved >= self.limit:
                self.close()
                return False
            self._get_more()
        if self._raw_batch is not None:
            self._join_raw(self._raw_batch)
        if self._reader is not None:
            self._decode_slice(self._reader)
        return bool(self.documents)

    def _decode_slice(self, reader: ArrayReader) -> None:
        assert self._pacer is not None
        self._pacer()
        collects = gc.isenabled()
        if collects:
            # The new documents are no garbage, however many there are.
            gc.disable()
        try:
            documents = decode_many(reader.take(SLICE), self._scope.codec_options)
        finally:
            if collects:
                gc.enable()
        if reader.exhausted:
            self._reader = None
        self.retrieved += len(documents)
        self.documents.extend(documents)

    def _get_more(self) -> None:
        self._check_home()
        assert self.address is not None and self.cursor_id is not None
        kind = GetMore if self.pin is None else ExhaustGetMore
        command = kind(self._scope, self.cursor_id, self.address, self.collection, self._next_batch_size(),
                       self.max_await_time_ms, self.comment)
        try:
            if self.pin is None:
                cursor, batch = self._executor.execute(command, self.session)
            else:
                cursor, batch = self._executor.exhaust(command, self.session, self.pin)
        except BaseException as error:
            self._after_failure(error)
            raise
        self._take(cursor, "nextBatch", batch)

    def _after_failure(self, error: BaseException) -> None:
        """An error from the server ends the cursor there; after any other the server must be told."""
        if isinstance(error, OperationFailure):
            if isinstance(error, CursorNotFound) or not error.timeout:
                self.cursor_id = 0
        self.abandon()

    def _next_batch_size(self) -> int:
        left = self.limit - self.retrieved
        if not self.limit or left <= 0:
            return self.batch_size
        return min(left, self.batch_size) if self.batch_size else left

    def _check_home(self) -> None:
        """A cursor lives in one process and on one hub."""
        if self._deployment is not self._executor.deployment():
            raise InvalidOperation("a cursor cannot be used in another process or thread than the one it was opened "
                                   "in: open another there")

    def _finish(self) -> None:
        """The server holds nothing more: let go of session and connection."""
        self.killed = True
        if self.session.implicit:
            self.session.end()
        if self.pin is not None:
            self.pin.release()

    @property
    def alive(self) -> bool:
        """Whether there may be more documents."""
        waiting = self.documents or self._reader is not None or self._raw_batch is not None
        return bool(waiting or (self.cursor_id != 0 and not self.killed))

    def close(self) -> None:
        """End the cursor at the server, and wait for its word. What has arrived can still be read, as with PyMongo."""
        if self.killed:
            return
        streaming = self.pin is not None and self.pin.streaming
        if not self.cursor_id or self.address is None or streaming or (
                not self._executor.is_current(self._deployment)):
            self.abandon()
            return
        if self.pin is not None:
            self.pin.release()
        try:
            self._executor.execute(KillCursors(self._scope, self.cursor_id, self.address, self.collection),
                                   self.session)
        except PyMongoError:
            pass  # the server's own timeout ends it
        except BaseException:
            self.abandon()
            raise
        self._finish()

    def abandon(self) -> None:
        """End the cursor in the background: for finalisers and for greenlets that are being killed. Never waits."""
        if self.killed:
            return
        self.killed = True
        session = None
        if self.session.implicit:
            session, self.session.server_session = self.session.server_session, None
            self.session.end()
        streaming = self.pin is not None and self.pin.streaming
        if self._deployment is not None and (self.cursor_id or self.pin is not None or session is not None):
            self._deployment.drop_cursor(DroppedCursor(
                self.address, self._scope.database, self.collection, 0 if streaming else self.cursor_id or 0, session,
                self.pin))


def raw_scope(scope: Scope) -> Scope:
    """`scope`, with replies whose documents stay encoded."""
    return Scope(scope.database, scope.collection, RAW_OPTIONS, scope.read_preference, scope.read_concern,
                 scope.write_concern, scope.acknowledged)
