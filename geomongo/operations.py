"""The operations of a bulk write, and the models of indexes and search indexes.

An operation checks what it can when it is made and the rest in `as_statement` (or `as_document`), which gives
its part of an `insert`, `update` or `delete` command. All its arguments are readable attributes.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

from bson.raw_bson import RawBSONDocument

from geomongo.checks import (
    validate_boolean,
    validate_is_document_type,
    validate_is_mapping,
    validate_list,
    validate_ok_for_replace,
    validate_ok_for_update,
)
from geomongo.collation import validate_collation_or_none
from geomongo.index_keys import IndexKeyHint, index_document, index_list, index_name, normalised_hint
from geomongo.typings import CollationIn, DocumentType, Pipeline

__all__ = [
    "DeleteMany",
    "DeleteOne",
    "IndexModel",
    "InsertOne",
    "ReplaceOne",
    "SearchIndexModel",
    "UpdateMany",
    "UpdateOne",
]


class _Operation:
    """Equality and representation by the attributes that `_fields` names; the namespace shows only if set."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _fields: tuple[str, ...] = ()
    namespace: str | None

    def _values(self) -> list[Any]:
        return [getattr(self, name) for name in self._fields]

    def __eq__(self, other: object) -> bool:
        if type(other) is type(self):
            return (*self._values(), self.namespace) == (*other._values(), other.namespace)
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        shown = [(name, getattr(self, name)) for name in self._fields]
        if self.namespace:
            # The place that PyMongo gives it: before `sort`, which came later.
            shown.insert(-1 if self._fields[-1] == "sort" else len(shown), ("namespace", self.namespace))
        return "{}({})".format(type(self).__name__, ", ".join(repr(value) for _, value in shown))


def _add_common(statement: dict[str, Any], operation: Any) -> None:
    """Add collation, array filters, hint and sort to a statement, where they are set."""
    collation = validate_collation_or_none(operation.collation)
    if collation is not None:
        statement["collation"] = collation
    array_filters = getattr(operation, "array_filters", None)
    if array_filters is not None:
        statement["arrayFilters"] = array_filters
    if operation.hint is not None:
        statement["hint"] = operation.hint
    sort = getattr(operation, "sort", None)
    if sort is not None:
        statement["sort"] = sort


class InsertOne(_Operation, Generic[DocumentType]):
    """Insert one document. `namespace` ("database.collection") is for `MongoClient.bulk_write` only."""

    __slots__ = ("document", "namespace")
    _fields = ("document",)

    def __init__(self, document: DocumentType, namespace: str | None = None) -> None:
        self.document = document
        self.namespace = namespace

    def as_document(self) -> DocumentType:
        """The document; TypeError if it is none. Giving it an `_id` is the caller's task."""
        validate_is_document_type("document", self.document)
        return self.document


class _DeleteOp(_Operation):
    __slots__ = ("filter", "collation", "hint", "namespace")
    _fields = ("filter", "collation", "hint")
    limit = 0

    def __init__(self, filter: Mapping[str, Any], collation: CollationIn | None = None,
                 hint: IndexKeyHint | None = None, namespace: str | None = None) -> None:
        if filter is not None:
            validate_is_mapping("filter", filter)
        self.filter = filter
        self.collation = collation
        self.hint = normalised_hint(hint)
        self.namespace = namespace

    def as_statement(self) -> dict[str, Any]:
        """The entry of a `delete` command's `deletes`; TypeError for a wrong collation."""
        statement: dict[str, Any] = {"q": self.filter, "limit": self.limit}
        _add_common(statement, self)
        return statement


class DeleteOne(_DeleteOp):
    """Delete one document that matches `filter`."""

    __slots__ = ()
    limit = 1


class DeleteMany(_DeleteOp):
    """Delete all documents that match `filter`."""

    __slots__ = ()


class ReplaceOne(_Operation, Generic[DocumentType]):
    """Replace one document that matches `filter`; with `upsert`, insert it if there is none."""

    __slots__ = ("filter", "replacement", "upsert", "collation", "hint", "namespace", "sort")
    _fields = ("filter", "replacement", "upsert", "collation", "hint", "sort")
    multi = False

    def __init__(self, filter: Mapping[str, Any], replacement: DocumentType | RawBSONDocument,
                 upsert: bool | None = None, collation: CollationIn | None = None,
                 hint: IndexKeyHint | None = None, namespace: str | None = None,
                 sort: Mapping[str, Any] | None = None) -> None:
        if filter is not None:
            validate_is_mapping("filter", filter)
        if upsert is not None:
            validate_boolean("upsert", upsert)
        self.filter = filter
        self.replacement = replacement
        self.upsert = upsert
        self.collation = collation
        self.hint = normalised_hint(hint)
        self.namespace = namespace
        self.sort = sort

    def as_statement(self) -> dict[str, Any]:
        """The entry of an `update` command's `updates`; TypeError or ValueError for a wrong replacement."""
        validate_ok_for_replace(self.replacement)
        statement: dict[str, Any] = {"q": self.filter, "u": self.replacement}
        if self.upsert is not None:
            statement["upsert"] = self.upsert
        _add_common(statement, self)
        return statement


class _UpdateOp(_Operation):
    __slots__ = ("filter", "update", "upsert", "collation", "array_filters", "hint", "namespace", "sort")
    _fields = ("filter", "update", "upsert", "collation", "array_filters", "hint", "sort")
    multi = False

    def __init__(self, filter: Mapping[str, Any], update: Mapping[str, Any] | Pipeline, upsert: bool | None,
                 collation: CollationIn | None, array_filters: list[Mapping[str, Any]] | None,
                 hint: IndexKeyHint | None, namespace: str | None, sort: Mapping[str, Any] | None) -> None:
        if filter is not None:
            validate_is_mapping("filter", filter)
        if upsert is not None:
            validate_boolean("upsert", upsert)
        if array_filters is not None:
            validate_list("array_filters", array_filters)
        self.filter = filter
        self.update = update
        self.upsert = upsert
        self.collation = collation
        self.array_filters = array_filters
        self.hint = normalised_hint(hint)
        self.namespace = namespace
        self.sort = sort

    def as_statement(self) -> dict[str, Any]:
        """The entry of an `update` command's `updates`; TypeError or ValueError for a wrong update."""
        validate_ok_for_update(self.update)
        statement = {"q": self.filter, "u": self.update, "multi": self.multi, "upsert": bool(self.upsert)}
        _add_common(statement, self)
        return statement


class UpdateOne(_UpdateOp):
    """Update one document that matches `filter`."""

    __slots__ = ()

    def __init__(self, filter: Mapping[str, Any], update: Mapping[str, Any] | Pipeline,
                 upsert: bool | None = None, collation: CollationIn | None = None,
                 array_filters: list[Mapping[str, Any]] | None = None, hint: IndexKeyHint | None = None,
                 namespace: str | None = None, sort: Mapping[str, Any] | None = None) -> None:
        super().__init__(filter, update, upsert, collation, array_filters, hint, namespace, sort)


class UpdateMany(_UpdateOp):
    """Update all documents that match `filter`."""

    __slots__ = ()
    multi = True

    def __init__(self, filter: Mapping[str, Any], update: Mapping[str, Any] | Pipeline,
                 upsert: bool | None = None, collation: CollationIn | None = None,
                 array_filters: list[Mapping[str, Any]] | None = None, hint: IndexKeyHint | None = None,
                 namespace: str | None = None) -> None:
        super().__init__(filter, update, upsert, collation, array_filters, hint, namespace, None)


class IndexModel:
    """An index to create: its keys and any option of `createIndexes` (manual page of that command).

    `name` defaults to keys and directions joined by underscores. Raises TypeError or ValueError.
    """

    __slots__ = ("__document",)

    def __init__(self, keys: IndexKeyHint, **kwargs: Any) -> None:
        pairs = index_list(keys)
        if kwargs.get("name") is None:
            kwargs["name"] = index_name(pairs)
        kwargs["key"] = index_document(pairs)
        collation = validate_collation_or_none(kwargs.pop("collation", None))
        if collation is not None:
            kwargs["collation"] = collation
        self.__document: dict[str, Any] = kwargs

    @property
    def document(self) -> dict[str, Any]:
        """The entry of `createIndexes`."""
        return self.__document

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.document.items() if key != "key")
        return f"{type(self).__name__}({self.document['key']!r}{options})"


class SearchIndexModel:
    """A search index to create: its definition, name, type ("search" or "vectorSearch") and other options."""

    __slots__ = ("__document",)

    def __init__(self, definition: Mapping[str, Any], name: str | None = None, type: str | None = None,
                 **kwargs: Any) -> None:
        self.__document: dict[str, Any] = {} if name is None else {"name": name}
        self.__document["definition"] = definition
        if type is not None:
            self.__document["type"] = type
        self.__document.update(kwargs)

    @property
    def document(self) -> Mapping[str, Any]:
        """The entry of `createSearchIndexes`."""
        return self.__document

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.document.items())
        return f"{type(self).__name__}({options})"
