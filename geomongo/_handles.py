"""What client, database and collection have in common: options that a child inherits unless it is given others."""
from __future__ import annotations

from typing import Any, Generic, NamedTuple, Optional

from bson.codec_options import CodecOptions

from geomongo._bson import Options
from geomongo._commands.base import Scope
from geomongo._execution.executor import Executor
from geomongo._local import Local
from geomongo.read_concern import ReadConcern
from geomongo.read_preferences import ServerMode
from geomongo.typings import DocumentType
from geomongo.write_concern import WriteConcern


class Inside(NamedTuple):
    """What the public classes need of each other. It stands in the attribute ``__geomongo__`` of a handle, a name that
    no collection or database can have."""

    executor: Executor
    scope: Scope
    client: Any


class Handle(Local, Generic[DocumentType]):
    """Codec options, read preference, write concern and read concern; checked. Raises TypeError."""

    __geomongo__: Inside
    __slots__ = ("__geomongo__", "_codec_options", "_read_concern", "_read_preference", "_write_concern")

    def __init__(self, codec_options: Any, read_preference: Any, write_concern: Any, read_concern: Any) -> None:
        if not isinstance(codec_options, CodecOptions):
            raise TypeError("codec_options must be an instance of bson.codec_options.CodecOptions, "
                            f"not {type(codec_options)}")
        if not isinstance(read_preference, ServerMode):
            raise TypeError(f"{read_preference!r} is not valid for read_preference. "
                            "See geomongo.read_preferences for valid options.")
        for name, value, kind in (("write_concern", write_concern, WriteConcern),
                                  ("read_concern", read_concern, ReadConcern)):
            if not isinstance(value, kind):
                raise TypeError(f"{name} must be an instance of geomongo.{name}.{kind.__name__}, not {type(value)}")
        self._codec_options: Options = codec_options
        self._read_preference: ServerMode = read_preference
        self._write_concern: WriteConcern = write_concern
        self._read_concern: ReadConcern = read_concern

    def __copy__(self) -> Any:
        """Itself, for nothing about it changes."""
        return self

    def _scope(self, database: str, collection: str) -> Scope:
        """The options as commands on `database` and `collection` need them."""
        write_concern = self._write_concern
        return Scope(database, collection, self._codec_options, self._read_preference,
                     self._read_concern.document, None if write_concern.is_server_default else write_concern.document,
                     write_concern.acknowledged)

    @property
    def codec_options(self) -> CodecOptions[DocumentType]:
        """How documents are encoded and decoded."""
        return self._codec_options

    @property
    def read_preference(self) -> ServerMode:
        """Which members of a replica set reads go to."""
        return self._read_preference

    @property
    def write_concern(self) -> WriteConcern:
        """What writes wait for."""
        return self._write_concern

    @property
    def read_concern(self) -> ReadConcern:
        """Which data reads may see."""
        return self._read_concern


def choose(parent: Handle[Any], codec_options: Optional[Any], read_preference: Optional[Any],
           write_concern: Optional[Any], read_concern: Optional[Any]) -> tuple[Any, Any, Any, Any]:
    """Each option as given, or as it is in `parent`."""
    return (codec_options if codec_options is not None else parent.codec_options,
            read_preference if read_preference is not None else parent.read_preference,
            write_concern if write_concern is not None else parent.write_concern,
            read_concern if read_concern is not None else parent.read_concern)
