"""Commands that are a document in and a document out: management commands and the application's own."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from geomongo._bson import decode
from geomongo._commands.base import NO_RETRY, Command, Scope, ServerInfo
from geomongo._wire.raw import EMPTY_DOCUMENT


class RunCommand(Command):
    """`document` as it is; the reply as it is, decoded with the scope's codec options.

    `check` False returns a reply of `ok: 0` instead of raising; `allowable` holds codes that raise nothing.
    """

    __slots__ = ("allowable", "check", "document", "name", "preference", "reads", "retry")

    whole = True

    def __init__(self, scope: Scope, document: Mapping[str, Any], preference: Any = None, check: bool = True,
                 allowable: Any = None, retry: int = NO_RETRY, reads: bool = False) -> None:
        self.scope = scope
        self.document = document
        self.name = next(iter(document), "")
        self.preference = preference
        self.check = check
        self.allowable = allowable
        self.retry = retry
        self.reads = reads

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """A copy, to which the executor adds its fields."""
        return dict(self.document)

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The reply; decoded once more where the application has codecs of its own."""
        return reply if batch is None else decode(batch, self.scope.codec_options)


class WriteCommand(RunCommand):
    """A management command that takes a write concern, and raises where that was not met."""

    __slots__ = ()

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """With the scope's write concern, unless the document has its own."""
        document = dict(self.document)
        if self.scope.write_concern is not None:
            document.setdefault("writeConcern", self.scope.write_concern)
        return document


class ValueCommand(RunCommand):
    """A command whose result is one field of the reply, which belongs to the application: distinct's `values`,
    findAndModify's `value`."""

    __slots__ = ("cut", "field", "finish")

    def __init__(self, scope: Scope, document: Mapping[str, Any], field: str, preference: Any, retry: int,
                 finish: Optional[Callable[[Any], None]] = None) -> None:
        super().__init__(scope, document, preference, retry=retry, reads=preference is not None)
        self.field = field
        self.cut = (field,)
        self.finish = finish

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The field's value, decoded with the application's options."""
        if self.finish is not None:
            self.finish(reply)
        if batch is None or len(batch) == len(EMPTY_DOCUMENT):
            return reply.get(self.field)
        return self._decoded(batch)

    def _decoded(self, value: memoryview) -> Any:
        if self.field == "value":
            return decode(value, self.scope.codec_options)
        # An array is encoded as a document with the indexes as names.
        return list(decode(value, self.scope.codec_options).values())
