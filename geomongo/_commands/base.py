"""What every command is made of.

A command says where it goes (`preference`, `address`), how it may be retried (`retry`), and which part of the reply
holds the application's documents (`cut`); `build` makes the document that is sent, `parse` turns the reply into a
result. The executor adds what belongs to sessions, cluster time, read preference and the database's name.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional, Protocol

from geomongo._bson import DEFAULT_OPTIONS, Options, decodes_plainly, without_codecs
from geomongo._wire.batching import Limits
from geomongo.typings import Address

Reply = Mapping[str, Any]

NO_RETRY, RETRY_READ, RETRY_WRITE = range(3)

FIRST_BATCH = ("cursor", "firstBatch")
NEXT_BATCH = ("cursor", "nextBatch")


class ServerInfo(Protocol):
    """What a command may ask of the connection that it is built for."""

    address: Address
    limits: Limits
    max_wire_version: int
    is_mongos: bool


class Scope:
    """Names and options that commands on one collection (or database) share. Immutable; made once per handle.

    `read_concern` and `write_concern` are documents, None where the server's default holds. `reply_options` decode a
    reply that is the driver's own, such as a write's: as `codec_options`, but into dicts and without codecs.
    """

    __slots__ = ("acknowledged", "codec_options", "collection", "database", "plain", "read_concern",
                 "read_preference", "reply_options", "write_concern")

    def __init__(self, database: str, collection: str, codec_options: Options = DEFAULT_OPTIONS,
                 read_preference: Any = None, read_concern: Optional[dict[str, Any]] = None,
                 write_concern: Optional[dict[str, Any]] = None, acknowledged: bool = True) -> None:
        self.database = database
        self.collection = collection
        self.codec_options = codec_options
        self.plain = decodes_plainly(codec_options)
        self.reply_options = codec_options if self.plain else without_codecs(codec_options).with_options(
            document_class=dict)
        self.read_preference = read_preference
        self.read_concern = read_concern or None
        self.write_concern = write_concern or None
        self.acknowledged = acknowledged

    @property
    def namespace(self) -> str:
        """database.collection"""
        return f"{self.database}.{self.collection}"


class Sequence:
    """A document sequence that goes out beside the body (OP_MSG section kind 1)."""

    __slots__ = ("documents", "identifier")

    def __init__(self, identifier: str, documents: list[bytes]) -> None:
        self.identifier = identifier
        self.documents = documents


class Command:
    """See the module. Class attributes are the common case; commands that differ set them on themselves."""

    __slots__ = ("scope",)

    #: The command's name, for events and errors.
    name: str = ""
    #: Path of the application's documents in the reply, where they must be decoded with its codec options.
    cut: Optional[tuple[str, ...]] = None
    #: Whether the reply as a whole belongs to the application, where there is no `cut`.
    whole: bool = False
    #: Read preference; None sends the command to a writable server.
    preference: Any = None
    #: The server that it must go to, where a cursor was opened on it.
    address: Optional[Address] = None
    retry: int = NO_RETRY
    #: Flag bits of the OP_MSG.
    flags: int = 0
    #: Whether the server answers.
    acknowledged: bool = True
    #: Whether a reply of `ok: 0` raises.
    check: bool = True
    #: Error codes that raise nothing.
    allowable: Any = None
    sequence: Optional[Sequence] = None
    #: Whether the reply is about a read, so that causal consistency and read concern apply.
    reads: bool = False

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def build(self, info: ServerInfo) -> dict[str, Any]:
        """The command document for a connection. Called again for a retry."""
        raise NotImplementedError

    def parse(self, reply: Any, batch: Optional[memoryview]) -> Any:
        """The result. `batch` is the encoded value at `cut`, where it was cut out of the reply."""
        return reply
