"""Statements of writes, made of arguments that are checked here."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Sequence

from geomongo import error_rules
from geomongo._commands.base import NO_RETRY, RETRY_WRITE
from geomongo._commands.run import ValueCommand
from geomongo._commands.write import DELETE, INSERT, UPDATE
from geomongo._execution.bulk import Statement
from geomongo._find import projection_document
from geomongo._handles import Inside
from geomongo.checks import validate_boolean, validate_is_mapping, validate_list
from geomongo.collation import validate_collation_or_none
from geomongo.index_keys import index_document, normalised_hint
from geomongo.operations import DeleteMany, DeleteOne, InsertOne, ReplaceOne, UpdateMany, UpdateOne


def update_statement(filter: Any, update: Any, multi: bool, upsert: Any, collation: Any, array_filters: Any,
                     hint: Any, sort: Any) -> dict[str, Any]:
    """One entry of an update command's `updates`."""
    validate_boolean("upsert", upsert)
    statement: dict[str, Any] = {"q": filter, "u": update, "multi": multi, "upsert": upsert}
    if collation is not None:
        statement["collation"] = validate_collation_or_none(collation)
    if array_filters is not None:
        statement["arrayFilters"] = validate_list("array_filters", array_filters)
    if hint is not None:
        statement["hint"] = normalised_hint(hint)
    if sort is not None:
        validate_is_mapping("sort", sort)
        statement["sort"] = sort
    return statement


def bulk_statements(requests: Sequence[Any], give_id: Callable[[Any], Any]) -> Iterator[Statement]:
    """The statements of a bulk write; inserted documents get an `_id`. Raises TypeError for what is no operation."""
    for index, request in enumerate(requests):
        if isinstance(request, InsertOne):
            document = request.as_document()
            give_id(document)
            yield Statement(INSERT, document, index, True)
        elif isinstance(request, (UpdateOne, ReplaceOne)):
            yield Statement(UPDATE, request.as_statement(), index, True)
        elif isinstance(request, UpdateMany):
            yield Statement(UPDATE, request.as_statement(), index, False)
        elif isinstance(request, DeleteOne):
            yield Statement(DELETE, request.as_statement(), index, True)
        elif isinstance(request, DeleteMany):
            yield Statement(DELETE, request.as_statement(), index, False)
        else:
            raise TypeError(f"{request!r} is not a valid request")


def find_and_modify(inside: Inside, filter: Any, projection: Any, sort: Any, upsert: Optional[bool],
                    return_document: Any, hint: Any, session: Any, let: Any, comment: Any,
                    kwargs: dict[str, Any]) -> Any:
    """Run findAndModify; `kwargs` holds what it does and further fields of the command."""
    validate_is_mapping("filter", filter)
    if not isinstance(return_document, bool):
        raise TypeError("return_document must be ReturnDocument.BEFORE or ReturnDocument.AFTER, "
                        f"not {type(return_document)}")
    scope = inside.scope
    collation = validate_collation_or_none(kwargs.pop("collation", None))
    command: dict[str, Any] = {"findAndModify": scope.collection, "query": filter, "new": return_document}
    if let is not None:
        validate_is_mapping("let", let)
        command["let"] = let
    command.update(kwargs)
    if projection is not None:
        command["fields"] = projection_document(projection)
    if sort is not None:
        command["sort"] = index_document(sort)
    if upsert is not None:
        command["upsert"] = validate_boolean("upsert", upsert)
    if hint is not None:
        command["hint"] = normalised_hint(hint)
    if comment is not None:
        command["comment"] = comment
    if collation is not None:
        command["collation"] = collation
    if scope.write_concern is not None:
        command["writeConcern"] = scope.write_concern
    retry = RETRY_WRITE if scope.acknowledged else NO_RETRY
    return inside.executor.execute(ValueCommand(scope, command, "value", None, retry, _check_write_concern), session)


def _check_write_concern(reply: Any) -> None:
    error_rules.raise_for_write_concern(reply)
