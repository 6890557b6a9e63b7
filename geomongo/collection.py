"""A collection: reading, writing, indexes.

Source: MongoDB manual, "CRUD Operations"; specifications/source/crud/crud.md and index-management.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, MutableMapping, NoReturn, Optional, Sequence, Union

from bson.objectid import ObjectId
from bson.raw_bson import RawBSONDocument

from geomongo import _management as management
from geomongo._aggregate import aggregate
from geomongo._commands.base import NO_RETRY, RETRY_READ, RETRY_WRITE
from geomongo._commands.find import FindOne
from geomongo._commands.run import ValueCommand
from geomongo._commands.write import DELETE, INSERT, UPDATE, WriteOne
from geomongo._execution.bulk import Run, execute_bulk, paced, runs
from geomongo._find import check_session, projection_document
from geomongo._handles import Handle, Inside, choose
from geomongo._names import check_collection_name, check_string
from geomongo._writes import bulk_statements, find_and_modify, update_statement
from geomongo.checks import (
    validate_boolean,
    validate_is_document_type,
    validate_is_mapping,
    validate_list,
    validate_ok_for_replace,
    validate_ok_for_update,
)
from geomongo.collation import validate_collation_or_none
from geomongo.command_cursor import CommandCursor, RawBatchCommandCursor
from geomongo.cursor import Cursor, RawBatchCursor
from geomongo.errors import ConfigurationError, InvalidOperation
from geomongo.index_keys import IndexKeyHint, normalised_hint
from geomongo.operations import DeleteMany, DeleteOne, IndexModel, InsertOne, ReplaceOne, UpdateMany, UpdateOne
from geomongo.results import BulkWriteResult, DeleteResult, InsertManyResult, InsertOneResult, UpdateResult
from geomongo.typings import CollationIn, DocumentType, Pipeline

if TYPE_CHECKING:
    from geomongo.client_session import ClientSession
    from geomongo.database import Database

__all__ = ["Collection", "ReturnDocument"]

Filter = Mapping[str, Any]
Session = Optional["ClientSession"]
WriteOperation = Union[InsertOne[DocumentType], DeleteOne, DeleteMany, ReplaceOne[DocumentType], UpdateOne, UpdateMany]


class ReturnDocument:
    """Which state `find_one_and_update` and `find_one_and_replace` return."""

    BEFORE = False
    AFTER = True


class Collection(Handle[DocumentType]):
    """One collection of a database; attributes and items of it are collections whose name begins with its name.

    Every method raises TypeError, ValueError or InvalidName for arguments of the wrong shape before a byte is sent, and
    PyMongoError's subclasses (see `geomongo.errors`) for what goes wrong later.
    """

    __slots__ = ("_database", "_name")

    def __init__(self, database: Database[DocumentType], name: str, create: Optional[bool] = False,
                 codec_options: Any = None, read_preference: Any = None, write_concern: Any = None,
                 read_concern: Any = None, session: Session = None, **kwargs: Any) -> None:
        super().__init__(*choose(database, codec_options, read_preference, write_concern, read_concern))
        check_collection_name(name)
        self._database = database
        self._name = name
        inside = database.__geomongo__
        self.__geomongo__ = Inside(inside.executor, self._scope(database.name, name), inside.client)
        if create or kwargs or session is not None:
            management.create(self.__geomongo__, kwargs, session)

    # -- names

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._name

    @property
    def full_name(self) -> str:
        """database.collection"""
        return f"{self._database.name}.{self._name}"

    @property
    def database(self) -> Database[DocumentType]:
        """The database that it belongs to."""
        return self._database

    def __getattr__(self, name: str) -> Collection[DocumentType]:
        if name.startswith("_"):
            full = f"{self._name}.{name}"
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}. To access the {full} collection, "
                                 f"use database[{full!r}].")
        return self[name]

    def __getitem__(self, name: str) -> Collection[DocumentType]:
        return Collection(self._database, f"{self._name}.{name}", False, self._codec_options, self._read_preference,
                          self._write_concern, self._read_concern)

    def with_options(self, codec_options: Any = None, read_preference: Any = None, write_concern: Any = None,
                     read_concern: Any = None) -> Collection[Any]:
        """The same collection with other options; those not given stay."""
        return Collection(self._database, self._name, False,
                          *choose(self, codec_options, read_preference, write_concern, read_concern))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._database!r}, {self._name!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Collection):
            return self._database == other.database and self._name == other.name
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self._database, self._name))

    def __bool__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} objects do not implement truth value testing or bool(). "
                                  "Please compare with None instead: collection is not None")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        owner = "Collection" if "." in self._name else "Database"
        name = self._name.rpartition(".")[2]
        raise TypeError(f"'{type(self).__name__}' object is not callable. If you meant to call the '{name}' method "
                        f"on a '{owner}' object it is failing because no such method exists.")

    def __next__(self) -> NoReturn:
        raise TypeError(f"'{type(self).__name__}' object is not iterable")

    next = __next__
    __iter__ = None

    # -- reading

    def find(self, *args: Any, **kwargs: Any) -> Cursor[DocumentType]:
        """A cursor over the documents that match; the arguments are those of `Cursor`."""
        return Cursor(self, *args, **kwargs)

    def find_one(self, filter: Any = None, *args: Any, **kwargs: Any) -> Optional[DocumentType]:
        """The first document that matches, or None. `filter` may be an _id; the rest is as for `find`."""
        if filter is None:
            filter = {}
        elif type(filter) is not dict and not isinstance(filter, Mapping):
            filter = {"_id": filter}
        if not kwargs and len(args) < 2:
            inside = self.__geomongo__
            projection = (projection_document(args[0]) or None) if args else None
            document: Optional[DocumentType] = inside.executor.execute(FindOne(inside.scope, filter, projection))
            return document
        for document in Cursor(self, filter, *args, **kwargs).limit(-1):
            return document
        return None

    def find_raw_batches(self, *args: Any, **kwargs: Any) -> RawBatchCursor[DocumentType]:
        """Like `find`, but yields each batch as bytes of BSON documents."""
        return RawBatchCursor(self, *args, **kwargs)

    def aggregate(self, pipeline: Pipeline, session: Session = None, let: Optional[Mapping[str, Any]] = None,
                  comment: Any = None, **kwargs: Any) -> CommandCursor[DocumentType]:
        """Run an aggregation pipeline; further fields of the command are keyword arguments (batchSize, hint, ...)."""
        return aggregate(self.__geomongo__, self._name, pipeline, session, let, comment, kwargs)

    def aggregate_raw_batches(self, pipeline: Pipeline, session: Session = None, comment: Any = None,
                              **kwargs: Any) -> RawBatchCommandCursor[DocumentType]:
        """Like `aggregate`, but yields each batch as bytes of BSON documents."""
        cursor = aggregate(self.__geomongo__, self._name, pipeline, session, None, comment, kwargs, raw=True)
        assert isinstance(cursor, RawBatchCommandCursor)
        return cursor

    def count_documents(self, filter: Filter, session: Session = None, comment: Any = None, **kwargs: Any) -> int:
        """How many documents match; `skip`, `limit`, `hint`, `maxTimeMS` and `collation` are keyword arguments."""
        pipeline: list[dict[str, Any]] = [{"$match": filter}]
        for name in ("skip", "limit"):
            if name in kwargs:
                pipeline.append({f"${name}": kwargs.pop(name)})
        pipeline.append({"$group": {"_id": 1, "n": {"$sum": 1}}})
        for document in aggregate(self.__geomongo__, self._name, pipeline, session, None, comment, kwargs, plain=True):
            return int(document["n"])
        return 0

    def estimated_document_count(self, comment: Any = None, **kwargs: Any) -> int:
        """How many documents there are by the collection's metadata. Takes no session."""
        if "session" in kwargs:
            raise ConfigurationError("estimated_document_count does not support sessions; use count_documents")
        return management.count(self.__geomongo__, comment, kwargs)

    def distinct(self, key: str, filter: Optional[Filter] = None, session: Session = None, comment: Any = None,
                 hint: Optional[IndexKeyHint] = None, **kwargs: Any) -> list[Any]:
        """The distinct values of `key` among the documents that match."""
        check_string("key", key)
        inside = self._inside(session)
        scope = inside.scope
        if filter is not None:
            if "query" in kwargs:
                raise ConfigurationError("can't pass both filter and query")
            kwargs["query"] = filter
        command = {"distinct": self._name, "key": key, **management.options(kwargs, comment, hint)}
        if scope.read_concern is not None:
            command["readConcern"] = scope.read_concern
        values: list[Any] = inside.executor.execute(
            ValueCommand(scope, command, "values", scope.read_preference, RETRY_READ), session)
        return values

    # -- writing

    def _inside(self, session: Any) -> Inside:
        inside: Inside = self.__geomongo__
        if session is not None:
            check_session(session, inside.client)
        return inside

    def insert_one(self, document: Union[DocumentType, RawBSONDocument],
                   bypass_document_validation: Optional[bool] = None, session: Session = None,
                   comment: Any = None) -> InsertOneResult:
        """Insert a document; it gets an `_id` where it has none."""
        inserted_id = self._give_id(document)
        inside = self._inside(session)
        extras = _extras(bypass_document_validation, comment, None)
        command = WriteOne(inside.scope, INSERT, document, RETRY_WRITE, extras)
        inside.executor.execute(command, session)
        return InsertOneResult(inserted_id, command.acknowledged)

    def _give_id(self, document: Any) -> Any:
        if type(document) is not dict:
            validate_is_document_type("document", document)
            if isinstance(document, RawBSONDocument):
                return None
        if "_id" not in document:
            document["_id"] = ObjectId()
        return document["_id"]

    def insert_many(self, documents: Iterable[Union[DocumentType, RawBSONDocument]], ordered: bool = True,
                    bypass_document_validation: Optional[bool] = None, session: Session = None,
                    comment: Any = None) -> InsertManyResult:
        """Insert documents; each gets an `_id` where it has none. Raises BulkWriteError."""
        if not isinstance(documents, Iterable) or isinstance(documents, Mapping) or not documents:
            raise TypeError("documents must be a non-empty list")
        documents = list(documents)
        if not documents:
            raise InvalidOperation("No operations to execute")
        inserted_ids = [self._give_id(document) for document in paced(documents)]
        inside = self._inside(session)
        extras = _extras(bypass_document_validation, comment, None) or {}
        run = Run(INSERT, documents)
        execute_bulk(inside.executor, inside.scope, [run], ordered, {INSERT: extras}, session)
        return InsertManyResult(inserted_ids, inside.scope.acknowledged)

    def _update(self, filter: Any, update: Any, multi: bool, upsert: Any, collation: Any, array_filters: Any, hint: Any,
                session: Any, let: Any, sort: Any, comment: Any, bypass: Any) -> UpdateResult:
        statement = update_statement(filter, update, multi, upsert, collation, array_filters, hint, sort)
        inside = self._inside(session)
        command = WriteOne(inside.scope, UPDATE, statement, NO_RETRY if multi else RETRY_WRITE,
                           _extras(bypass, comment, let))
        reply = inside.executor.execute(command, session)
        if reply is None:
            return UpdateResult(None, False)
        upserted = reply.get("upserted")
        result = {**reply, "updatedExisting": not upserted and reply["n"] > 0}
        if upserted:
            result["upserted"] = upserted[0]["_id"]
        return UpdateResult(result, True)

    def update_one(self, filter: Filter, update: Union[Mapping[str, Any], Pipeline], upsert: bool = False,
                   bypass_document_validation: Optional[bool] = None, collation: Optional[CollationIn] = None,
                   array_filters: Optional[Sequence[Mapping[str, Any]]] = None,
                   hint: Optional[IndexKeyHint] = None, session: Session = None,
                   let: Optional[Mapping[str, Any]] = None, sort: Optional[Mapping[str, Any]] = None,
                   comment: Any = None) -> UpdateResult:
        """Update the first document that matches; with `upsert`, insert one where none does."""
        validate_is_mapping("filter", filter)
        validate_ok_for_update(update)
        return self._update(filter, update, False, upsert, collation, array_filters, hint, session, let, sort,
                            comment, bypass_document_validation)

    def update_many(self, filter: Filter, update: Union[Mapping[str, Any], Pipeline], upsert: bool = False,
                    array_filters: Optional[Sequence[Mapping[str, Any]]] = None,
                    bypass_document_validation: Optional[bool] = None, collation: Optional[CollationIn] = None,
                    hint: Optional[IndexKeyHint] = None, session: Session = None,
                    let: Optional[Mapping[str, Any]] = None, comment: Any = None) -> UpdateResult:
        """Update all documents that match; with `upsert`, insert one where none does. Never retried."""
        validate_is_mapping("filter", filter)
        validate_ok_for_update(update)
        return self._update(filter, update, True, upsert, collation, array_filters, hint, session, let, None,
                            comment, bypass_document_validation)

    def replace_one(self, filter: Filter, replacement: Mapping[str, Any], upsert: bool = False,
                    bypass_document_validation: Optional[bool] = None, collation: Optional[CollationIn] = None,
                    hint: Optional[IndexKeyHint] = None, session: Session = None,
                    let: Optional[Mapping[str, Any]] = None, sort: Optional[Mapping[str, Any]] = None,
                    comment: Any = None) -> UpdateResult:
        """Replace the first document that matches; with `upsert`, insert the replacement where none does."""
        validate_is_mapping("filter", filter)
        validate_ok_for_replace(replacement)
        return self._update(filter, replacement, False, upsert, collation, None, hint, session, let, sort, comment,
                            bypass_document_validation)

    def _delete(self, filter: Any, limit: int, collation: Any, hint: Any, session: Any, let: Any,
                comment: Any) -> DeleteResult:
        validate_is_mapping("filter", filter)
        statement: dict[str, Any] = {"q": filter, "limit": limit}
        if collation is not None:
            statement["collation"] = validate_collation_or_none(collation)
        if hint is not None:
            statement["hint"] = normalised_hint(hint)
        inside = self._inside(session)
        command = WriteOne(inside.scope, DELETE, statement, RETRY_WRITE if limit else NO_RETRY,
                           _extras(None, comment, let))
        reply = inside.executor.execute(command, session)
        return DeleteResult({"ok": 1} if reply is None else reply, command.acknowledged)

    def delete_one(self, filter: Filter, collation: Optional[CollationIn] = None,
                   hint: Optional[IndexKeyHint] = None, session: Session = None,
                   let: Optional[Mapping[str, Any]] = None, comment: Any = None) -> DeleteResult:
        """Delete the first document that matches."""
        return self._delete(filter, 1, collation, hint, session, let, comment)

    def delete_many(self, filter: Filter, collation: Optional[CollationIn] = None,
                    hint: Optional[IndexKeyHint] = None, session: Session = None,
                    let: Optional[Mapping[str, Any]] = None, comment: Any = None) -> DeleteResult:
        """Delete all documents that match. Never retried."""
        return self._delete(filter, 0, collation, hint, session, let, comment)

    def bulk_write(self, requests: Sequence[WriteOperation[DocumentType]], ordered: bool = True,
                   bypass_document_validation: Optional[bool] = None, session: Session = None, comment: Any = None,
                   let: Optional[Mapping[str, Any]] = None) -> BulkWriteResult:
        """Run many writes in as few messages as possible. Raises BulkWriteError, whose details tell what succeeded."""
        validate_list("requests", requests)
        if not requests:
            raise InvalidOperation("No operations to execute")
        grouped = runs(bulk_statements(requests, self._give_id), ordered)
        inside = self._inside(session)
        with_let = _extras(bypass_document_validation, comment, let) or {}
        deletes = _extras(None, comment, let) or {}
        inserts = _extras(bypass_document_validation, comment, None) or {}
        result = execute_bulk(inside.executor, inside.scope, grouped, ordered,
                              {INSERT: inserts, UPDATE: with_let, DELETE: deletes}, session)
        return BulkWriteResult(result if inside.scope.acknowledged else {}, inside.scope.acknowledged)

    # -- find and modify

    def find_one_and_delete(self, filter: Filter, projection: Any = None, sort: Any = None,
                            hint: Optional[IndexKeyHint] = None, session: Session = None,
                            let: Optional[Mapping[str, Any]] = None, comment: Any = None,
                            **kwargs: Any) -> Optional[DocumentType]:
        """Delete a document and return it; None where none matches."""
        kwargs["remove"] = True
        document: Optional[DocumentType] = find_and_modify(self._inside(session), filter, projection, sort, None,
                                                           False, hint, session, let, comment, kwargs)
        return document

    def find_one_and_replace(self, filter: Filter, replacement: Mapping[str, Any], projection: Any = None,
                             sort: Any = None, upsert: bool = False, return_document: bool = ReturnDocument.BEFORE,
                             hint: Optional[IndexKeyHint] = None, session: Session = None,
                             let: Optional[Mapping[str, Any]] = None, comment: Any = None,
                             **kwargs: Any) -> Optional[DocumentType]:
        """Replace a document and return its state before or after; None where there is none."""
        validate_ok_for_replace(replacement)
        kwargs["update"] = replacement
        document: Optional[DocumentType] = find_and_modify(self._inside(session), filter, projection, sort, upsert,
                                                           return_document, hint, session, let, comment, kwargs)
        return document

    def find_one_and_update(self, filter: Filter, update: Union[Mapping[str, Any], Pipeline], projection: Any = None,
                            sort: Any = None, upsert: bool = False, return_document: bool = ReturnDocument.BEFORE,
                            array_filters: Optional[Sequence[Mapping[str, Any]]] = None,
                            hint: Optional[IndexKeyHint] = None, session: Session = None,
                            let: Optional[Mapping[str, Any]] = None, comment: Any = None,
                            **kwargs: Any) -> Optional[DocumentType]:
        """Update a document and return its state before or after; None where there is none."""
        validate_ok_for_update(update)
        if array_filters is not None:
            kwargs["arrayFilters"] = validate_list("array_filters", array_filters)
        kwargs["update"] = update
        document: Optional[DocumentType] = find_and_modify(self._inside(session), filter, projection, sort, upsert,
                                                           return_document, hint, session, let, comment, kwargs)
        return document

    # -- indexes and the collection itself

    def create_index(self, keys: IndexKeyHint, session: Session = None, comment: Any = None, **kwargs: Any) -> str:
        """Create an index; returns its name. Options of the index are keyword arguments (unique, name, ...)."""
        command_options = {"maxTimeMS": kwargs.pop("maxTimeMS")} if "maxTimeMS" in kwargs else {}
        model = IndexModel(keys, **kwargs)
        return management.create_indexes(self._inside(session), [model], session, comment, command_options)[0]

    def create_indexes(self, indexes: Sequence[IndexModel], session: Session = None, comment: Any = None,
                       **kwargs: Any) -> list[str]:
        """Create indexes; returns their names."""
        validate_list("indexes", indexes)
        return management.create_indexes(self._inside(session), indexes, session, comment, kwargs)

    def drop_index(self, index_or_name: IndexKeyHint, session: Session = None, comment: Any = None,
                   **kwargs: Any) -> None:
        """Drop an index by name or keys."""
        management.drop_index(self._inside(session), index_or_name, session, comment, kwargs)

    def drop_indexes(self, session: Session = None, comment: Any = None, **kwargs: Any) -> None:
        """Drop every index but the one on `_id`."""
        management.drop_index(self._inside(session), "*", session, comment, kwargs)

    def list_indexes(self, session: Session = None, comment: Any = None) -> CommandCursor[MutableMapping[str, Any]]:
        """The indexes; nothing where the collection does not exist."""
        return management.list_indexes(self._inside(session), session, comment)

    def index_information(self, session: Session = None, comment: Any = None) -> MutableMapping[str, Any]:
        """The indexes by name, each with `key` as a list of pairs and its options."""
        information: dict[str, Any] = {}
        for index in self.list_indexes(session, comment):
            index["key"] = list(index["key"].items())
            name = index.pop("name")
            information[name] = dict(index)
        return information

    def options(self, session: Session = None, comment: Any = None) -> MutableMapping[str, Any]:
        """The options that the collection was created with."""
        return management.collection_options(self._inside(session), session, comment)

    def drop(self, session: Session = None, comment: Any = None,
             encrypted_fields: Optional[Mapping[str, Any]] = None) -> None:
        """Drop the collection; no error where it does not exist."""
        management.refuse_encryption(encrypted_fields)
        management.drop(self._inside(session), self._name, session, comment)

    def rename(self, new_name: str, session: Session = None, comment: Any = None,
               **kwargs: Any) -> MutableMapping[str, Any]:
        """Give the collection another name; `dropTarget=True` replaces one that has it. Returns the server's reply."""
        check_collection_name(new_name, "new_name")
        inside = self._inside(session)
        reply: MutableMapping[str, Any] = management.rename(inside, f"{self._database.name}.{new_name}", session,
                                                            comment, kwargs)
        return reply


def _extras(bypass: Optional[bool], comment: Any, let: Optional[Mapping[str, Any]]) -> Optional[dict[str, Any]]:
    """Fields that few writes have."""
    if bypass is None and comment is None and let is None:
        return None
    extras: dict[str, Any] = {}
    if bypass is not None:
        extras["bypassDocumentValidation"] = validate_boolean("bypass_document_validation", bypass)
    if comment is not None:
        extras["comment"] = comment
    if let is not None:
        validate_is_mapping("let", let)
        extras["let"] = let
    return extras
