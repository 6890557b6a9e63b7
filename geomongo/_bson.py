"""The only importer of codec internals: the `bson` package and its C codec.

The `bson` package is the one that the `pymongo` distribution ships. The distribution that is called `bson` on
the package index is another, unmaintained, pure-Python codec that takes the same package name; with it, or
without the C extension, importing this module fails with an explanation.
"""
from __future__ import annotations

from typing import Any, Callable, Mapping, Union, cast

from bson.codec_options import DEFAULT_CODEC_OPTIONS, CodecOptions, TypeRegistry
from bson.raw_bson import RawBSONDocument

try:
    from bson import _cbson  # type: ignore[attr-defined, unused-ignore]
except ImportError as missing:
    raise ImportError(
        "geomongo needs the C extension of the `bson` package (bson._cbson), which the `pymongo` distribution ships. "
        "If the distribution named `bson` is installed, it has overwritten that package: run "
        "`pip uninstall bson` and then `pip install --force-reinstall pymongo`."
    ) from missing

Buffer = Union[bytes, bytearray, memoryview]
Document = Mapping[str, Any]
Options = CodecOptions[Any]

DEFAULT_OPTIONS: Options = cast("Options", DEFAULT_CODEC_OPTIONS)
RAW_OPTIONS: Options = CodecOptions(document_class=RawBSONDocument)

_NO_CODECS = TypeRegistry()

#: encode(document, check_keys, options) -> bytes
encode: Callable[[Document, bool, Options], bytes] = _cbson._dict_to_bson
#: decode(buffer holding exactly one document, options) -> document
decode: Callable[[Buffer, Options], Any] = _cbson._bson_to_dict
#: decode_many(buffer of documents one after the other, options) -> list of documents
decode_many: Callable[[Buffer, Options], list[Any]] = _cbson._decode_all
#: array_to_stream(BSON array of documents) -> the documents one after the other
array_to_stream: Callable[[Buffer], bytes] = _cbson._array_of_documents_to_buffer


def decodes_plainly(options: Options) -> bool:
    """Whether a whole server reply may be decoded with `options`.

    False where they would change the driver's own part of the reply: another document class, or codecs that turn
    a plain value into an application's type. Then only the application's documents are decoded with them.
    """
    return options.document_class is dict and options.type_registry == _NO_CODECS


def without_codecs(options: Options) -> Options:
    """`options` without the application's own types: for what the driver itself must read."""
    return options.with_options(type_registry=_NO_CODECS)
