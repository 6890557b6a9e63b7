"""aggregate, for collections and databases."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Union

from geomongo._commands.base import NO_RETRY, RETRY_READ, Scope
from geomongo._commands.find import CursorCommand
from geomongo._execution.cursors import CursorCore
from geomongo._find import check_session
from geomongo._handles import Inside
from geomongo.checks import validate_is_document_type, validate_list
from geomongo.collation import validate_collation_or_none
from geomongo.command_cursor import CommandCursor, opened
from geomongo.errors import ConfigurationError
from geomongo.index_keys import normalised_hint


def aggregate(inside: Inside, target: Union[str, int], pipeline: Any, session: Any,
              let: Optional[Mapping[str, Any]], comment: Any, kwargs: dict[str, Any], raw: bool = False,
              plain: bool = False) -> CommandCursor[Any]:
    """Run a pipeline on `target`: a collection's name, or 1 for the database.

    `plain` decodes the results with the driver's own options. Raises TypeError, ConfigurationError.
    """
    check_session(session, inside.client)
    validate_list("pipeline", pipeline)
    if kwargs.pop("explain", False):
        raise ConfigurationError("The explain option is not supported. Use Database.command instead.")
    scope: Scope = inside.scope
    if plain:
        scope = Scope(scope.database, scope.collection, read_preference=scope.read_preference,
                      read_concern=scope.read_concern)
    batch_size = kwargs.pop("batchSize", None)
    await_time = kwargs.pop("maxAwaitTimeMS", None)
    writes = _writes(pipeline)
    command = {"aggregate": target, "pipeline": pipeline, **_options(kwargs, let, comment),
               "cursor": _cursor_options(batch_size, writes)}
    if scope.read_concern is not None:
        command["readConcern"] = scope.read_concern
    if writes and scope.write_concern is not None:
        command["writeConcern"] = scope.write_concern
    core = CursorCore(inside.executor, scope, session, 0 if batch_size is None else batch_size, raw=raw)
    core.comment = comment
    core.max_await_time_ms = await_time
    # A pipeline that writes goes where writes go.
    preference = None if writes else scope.read_preference
    core.open(CursorCommand(core.scope, command, preference, NO_RETRY if writes else RETRY_READ))
    return opened(core, session, inside.client)


def _options(kwargs: dict[str, Any], let: Any, comment: Any) -> dict[str, Any]:
    options = dict(kwargs)
    if "hint" in options:
        options["hint"] = normalised_hint(options["hint"])
    if "collation" in options:
        options["collation"] = validate_collation_or_none(options["collation"])
    if let is not None:
        validate_is_document_type("let", let)
        options["let"] = let
    if comment is not None:
        options["comment"] = comment
    return options


def _writes(pipeline: list[Any]) -> bool:
    last = pipeline[-1] if pipeline else {}
    return isinstance(last, Mapping) and ("$out" in last or "$merge" in last)


def _cursor_options(batch_size: Optional[int], writes: bool) -> dict[str, Any]:
    if batch_size is None or writes:
        return {}
    return {"batchSize": batch_size}
