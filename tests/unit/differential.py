"""Run one expression in geomongo's and in PyMongo's names, and describe both outcomes alike."""
import copy
import importlib
import pickle
from collections.abc import Callable
from typing import Any

import bson


def names(*modules: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The public names of the given modules: those of geomongo, and those of PyMongo."""
    both: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for package, scope in zip(("geomongo", "pymongo"), both):
        scope.update(copy=copy, pickle=pickle, bson=bson, SON=bson.SON)
        for module in modules:
            scope.update(vars(importlib.import_module(f"{package}.{module}")))
    return both


def described(call: Callable[[], Any]) -> str:
    """What a call returned, or the type of what it raised: messages are each driver's own."""
    try:
        return repr(call())
    except Exception as error:
        return f"raises {type(error).__name__}"


def outcomes(expression: str, scopes: tuple[dict[str, Any], dict[str, Any]]) -> list[str]:
    """The descriptions of an expression's value in each scope."""
    return [described(lambda: eval(expression, scope)) for scope in scopes]
