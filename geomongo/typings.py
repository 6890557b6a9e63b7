"""Names of types that many signatures share."""
from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, TypeVar, Union

from bson.raw_bson import RawBSONDocument
from bson.typings import _DocumentType
from bson.typings import _DocumentType as DocumentType

from geomongo.collation import Collation
from geomongo.index_keys import IndexKeyHint

__all__ = [
    "_DocumentType",
    "Address",
    "ClusterTime",
    "CollationIn",
    "DocumentOut",
    "DocumentType",
    "DocumentTypeArg",
    "IndexKeyHint",
    "Pipeline",
    "strip_optional",
]

DocumentTypeArg = TypeVar("DocumentTypeArg", bound=Mapping[str, Any])
DocumentOut = Union[MutableMapping[str, Any], RawBSONDocument]
Address = tuple[str, Union[int, None]]
CollationIn = Union[Mapping[str, Any], Collation]
Pipeline = Sequence[Mapping[str, Any]]
ClusterTime = Mapping[str, Any]
_T = TypeVar("_T")

# The names by which PyMongo's users know them.
_DocumentTypeArg = TypeVar("_DocumentTypeArg", bound=Mapping[str, Any])
_DocumentOut = DocumentOut
_Address = Address
_CollationIn = CollationIn
_Pipeline = Pipeline


def strip_optional(elem: _T | None) -> _T:
    """Tell a type checker that `elem` is not None; AssertionError if it is."""
    assert elem is not None
    return elem
