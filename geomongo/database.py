"""A database: its collections and commands.

Source: MongoDB manual, "Database Commands"; specifications/source/enumerate-collections and run-command.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, MutableMapping, NoReturn, Optional, Sequence, Union

from bson.codec_options import CodecOptions
from bson.dbref import DBRef

from geomongo import _management as management
from geomongo._aggregate import aggregate
from geomongo._bson import DEFAULT_OPTIONS, without_codecs
from geomongo._commands.base import NO_RETRY, Scope
from geomongo._commands.run import RunCommand
from geomongo._find import check_session
from geomongo._handles import Handle, Inside, choose
from geomongo._names import check_database_name, check_string
from geomongo.collection import Collection
from geomongo.command_cursor import CommandCursor
from geomongo.errors import CollectionInvalid, InvalidOperation
from geomongo.read_preferences import ReadPreference, ServerMode
from geomongo.typings import DocumentType, Pipeline

if TYPE_CHECKING:
    from geomongo.client_session import ClientSession
    from geomongo.mongo_client import MongoClient

__all__ = ["Database"]

Session = Optional["ClientSession"]


class Database(Handle[DocumentType]):
    """One database of a client; attributes and items of it are collections.

    Every method raises TypeError, ValueError or InvalidName for arguments of the wrong shape before a byte is sent, and
    PyMongoError's subclasses (see `geomongo.errors`) for what goes wrong later.
    """

    __slots__ = ("_client", "_name")

    def __init__(self, client: MongoClient[DocumentType], name: str, codec_options: Any = None,
                 read_preference: Any = None, write_concern: Any = None, read_concern: Any = None) -> None:
        super().__init__(*choose(client, codec_options, read_preference, write_concern, read_concern))
        check_database_name(name)
        self._client = client
        self._name = name
        inside = client.__geomongo__
        self.__geomongo__ = Inside(inside.executor, self._scope(name, "$cmd"), client)

    @property
    def client(self) -> MongoClient[DocumentType]:
        """The client that it belongs to."""
        return self._client

    @property
    def name(self) -> str:
        """The database's name."""
        return self._name

    def with_options(self, codec_options: Any = None, read_preference: Any = None, write_concern: Any = None,
                     read_concern: Any = None) -> Database[Any]:
        """The same database with other options; those not given stay."""
        return Database(self._client, self._name,
                        *choose(self, codec_options, read_preference, write_concern, read_concern))

    def __getattr__(self, name: str) -> Collection[DocumentType]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}. To access the {name} collection, "
                                 f"use database[{name!r}].")
        return Collection(self, name)

    def __getitem__(self, name: str) -> Collection[DocumentType]:
        return Collection(self, name)

    def get_collection(self, name: str, codec_options: Any = None, read_preference: Any = None,
                       write_concern: Any = None, read_concern: Any = None) -> Collection[Any]:
        """A collection with options of its own; those not given are this database's."""
        return Collection(self, name, False, codec_options, read_preference, write_concern, read_concern)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r}, {self._name!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Database):
            return self._client == other.client and self._name == other.name
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self._client, self._name))

    def __bool__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} objects do not implement truth value testing or bool(). "
                                  "Please compare with None instead: database is not None")

    def __next__(self) -> NoReturn:
        raise TypeError(f"'{type(self).__name__}' object is not iterable")

    next = __next__
    __iter__ = None

    def _inside(self, session: Any) -> Inside:
        check_session(session, self._client)
        inside: Inside = self.__geomongo__
        return inside

    # -- commands

    def command(self, command: Union[str, MutableMapping[str, Any]], value: Any = 1, check: bool = True,
                allowable_errors: Optional[Sequence[Union[str, int]]] = None, read_preference: Any = None,
                codec_options: Optional[CodecOptions[Any]] = None, session: Session = None, comment: Any = None,
                **kwargs: Any) -> Any:
        """Run a command and return the server's reply.

        `command` is its name (then `value` is its value and keyword arguments are further fields) or the whole
        document. It does not inherit this database's read preference or concerns. `check=False` returns failures
        instead of raising OperationFailure; so do codes in `allowable_errors`. Codecs of `codec_options` do not apply,
        for much of a reply is not the application's.
        """
        inside = self._inside(session)
        document = _command_document(command, value, comment, kwargs)
        scope = Scope(self._name, "$cmd", DEFAULT_OPTIONS if codec_options is None else without_codecs(codec_options))
        preference = _preference(read_preference)
        return inside.executor.execute(RunCommand(scope, document, preference, check, allowable_errors), session)

    def cursor_command(self, command: Union[str, MutableMapping[str, Any]], value: Any = 1,
                       read_preference: Any = None, codec_options: Optional[CodecOptions[Any]] = None,
                       session: Session = None, comment: Any = None, max_await_time_ms: Optional[int] = None,
                       **kwargs: Any) -> CommandCursor[Any]:
        """Run a command whose reply is a cursor. Raises InvalidOperation where it is none."""
        inside = self._inside(session)
        document = _command_document(command, value, comment, kwargs)
        scope = Scope(self._name, "$cmd", DEFAULT_OPTIONS if codec_options is None else codec_options)
        preference = _preference(read_preference)
        cursor = management.open_cursor(inside, scope, document, session, comment, preference, max_await_time_ms,
                                        NO_RETRY)
        if cursor.address is None:
            raise InvalidOperation("Command does not return a cursor.")
        return cursor

    def aggregate(self, pipeline: Pipeline, session: Session = None, **kwargs: Any) -> CommandCursor[DocumentType]:
        """Run a pipeline that begins without a collection ($currentOp, $documents, ...)."""
        let, comment = kwargs.pop("let", None), kwargs.pop("comment", None)
        inside = self._inside(session)
        scoped = inside._replace(scope=self._scope(self._name, "$cmd.aggregate"))
        return aggregate(scoped, 1, pipeline, session, let, comment, kwargs)

    # -- collections

    def create_collection(self, name: str, codec_options: Any = None, read_preference: Any = None,
                          write_concern: Any = None, read_concern: Any = None, session: Session = None,
                          check_exists: Optional[bool] = True, **kwargs: Any) -> Collection[DocumentType]:
        """Create a collection; options of the `create` command are keyword arguments.

        Raises CollectionInvalid where it exists, unless `check_exists` is False.
        """
        self._inside(session)
        collection: Collection[DocumentType] = Collection(self, name, False, codec_options, read_preference,
                                                          write_concern, read_concern)
        if check_exists and name in self.list_collection_names(session, {"name": name}):
            raise CollectionInvalid(f"collection {name} already exists")
        management.create(collection.__geomongo__, kwargs, session)
        return collection

    def list_collections(self, session: Session = None, filter: Optional[Mapping[str, Any]] = None,
                         comment: Any = None, **kwargs: Any) -> CommandCursor[MutableMapping[str, Any]]:
        """Descriptions of the collections."""
        if filter is not None:
            kwargs["filter"] = filter
        return management.list_collections(self._inside(session), session, comment, kwargs)

    def list_collection_names(self, session: Session = None, filter: Optional[Mapping[str, Any]] = None,
                              comment: Any = None, **kwargs: Any) -> list[str]:
        """Names of the collections."""
        if filter is not None:
            kwargs["filter"] = filter
        if not filter or (len(filter) == 1 and "name" in filter):
            kwargs["nameOnly"] = True
        inside = self._inside(session)
        plain = inside._replace(scope=Scope(self._name, "$cmd"))
        return [found["name"] for found in management.list_collections(plain, session, comment, kwargs)]

    def drop_collection(self, name_or_collection: Union[str, Collection[Any]], session: Session = None,
                        comment: Any = None, encrypted_fields: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
        """Drop a collection; no error where it does not exist. Returns the server's reply."""
        name = name_or_collection.name if isinstance(name_or_collection, Collection) else name_or_collection
        check_string("name_or_collection", name)
        management.refuse_encryption(encrypted_fields)
        reply: dict[str, Any] = management.drop(self._inside(session), name, session, comment)
        return reply

    def validate_collection(self, name_or_collection: Union[str, Collection[Any]], scandata: bool = False,
                            full: bool = False, session: Session = None, background: Optional[bool] = None,
                            comment: Any = None) -> dict[str, Any]:
        """Have the server check a collection. Raises CollectionInvalid where it is not valid."""
        name = name_or_collection.name if isinstance(name_or_collection, Collection) else name_or_collection
        if not isinstance(name, str):
            raise TypeError(f"name_or_collection must be an instance of str or Collection, not {type(name)}")
        document: dict[str, Any] = {"validate": name, "scandata": scandata, "full": full}
        if background is not None:
            document["background"] = background
        result: dict[str, Any] = self.command(document, session=session, comment=comment)
        for found in [result, *result.get("raw", {}).values()]:
            if not found.get("valid", True) or "corrupt" in str(found.get("result", "")):
                raise CollectionInvalid(f"{name} invalid: {found!r}")
        return result

    def dereference(self, dbref: DBRef, session: Session = None, comment: Any = None,
                    **kwargs: Any) -> Optional[DocumentType]:
        """The document that a DBRef of this database points to. Raises TypeError, ValueError."""
        if not isinstance(dbref, DBRef):
            raise TypeError(f"cannot dereference a {type(dbref)}")
        if dbref.database is not None and dbref.database != self._name:
            raise ValueError("trying to dereference a DBRef that points to another database "
                             f"({dbref.database!r} not {self._name!r})")
        return self[dbref.collection].find_one({"_id": dbref.id}, session=session, comment=comment, **kwargs)


def _preference(given: Any) -> ServerMode:
    if given is None:
        return ReadPreference.PRIMARY
    if not isinstance(given, ServerMode):
        raise TypeError(f"{given!r} is not valid for read_preference. See geomongo.read_preferences for valid options.")
    return given


def _command_document(command: Any, value: Any, comment: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(command, str):
        document: dict[str, Any] = {command: value}
    elif isinstance(command, Mapping):
        document = dict(command)
    else:
        raise TypeError(f"command must be an instance of str or a mapping, not {type(command)}")
    document.update(kwargs)
    if comment is not None:
        document["comment"] = comment
    if not document:
        raise ValueError("command must not be empty: its first field is the command's name")
    return document
