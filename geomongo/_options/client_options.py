"""The way from MongoClient's arguments to `ClientOptions`.

Connection strings are lenient (what is wrong in them is left out with a warning), keyword arguments strict,
and keyword arguments win. For `mongodb+srv://` the caller resolves `fqdn` and calls `ClientOptions.resolved`.
"""
from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from bson.codec_options import TypeRegistry

from geomongo._options.model import ClientOptions
from geomongo._options.table import OPTIONS
from geomongo._options.uri import DEFAULT_PORT, Host, ParsedUri, check, parse, resolve_aliases, split_hosts
from geomongo.errors import ConfigurationError

__all__ = ["ClientOptions", "client_options", "refuse_srv_options"]


def client_options(host: str | Iterable[str] | None = None, port: int | None = None,
                   document_class: type[Any] | None = None, tz_aware: bool | None = None,
                   connect: bool | None = None, type_registry: TypeRegistry | None = None,
                   **kwargs: Any) -> ClientOptions:
    """The options that MongoClient's arguments say. Must be called by MongoClient's constructor itself, so
    that warnings name the line that made the client.

    Raises TypeError, ValueError, ConfigurationError or its subclass InvalidURI; OSError for unreadable files.
    """
    hosts = _host_list(host)
    if port is not None and not isinstance(port, int):
        raise TypeError(f"port must be an instance of int, not {type(port)}")
    seeds, uri = _seeds(hosts, DEFAULT_PORT if port is None else port)
    named = {"document_class": document_class, "tz_aware": tz_aware, "connect": connect,
             "type_registry": type_registry}
    strict = {**kwargs, **{name: value for name, value in named.items() if value is not None}}
    keywords, _ = check(strict, lenient=False, keywords=True)
    options = _merged(seeds, uri, keywords)
    for text in options.warnings:
        warnings.warn(text, UserWarning, stacklevel=3)
    return options


def _host_list(host: str | Iterable[str] | None) -> list[str]:
    hosts = ["localhost"] if host is None else [host] if isinstance(host, str) else list(host)
    for text in hosts:
        if not isinstance(text, str):
            raise TypeError(f"host must be a str or a list of them, not {type(text)}")
    return hosts


def _seeds(hosts: list[str], port: int) -> tuple[list[Host], ParsedUri | None]:
    """The hosts of a list of host names, of which one may be a connection string, and that string."""
    seeds: list[Host] = []
    uri: ParsedUri | None = None
    for text in hosts:
        if "/" in text:
            if uri is not None:
                raise ConfigurationError("host must not contain multiple MongoDB URIs")
            uri = parse(text, port)
            seeds += uri.hosts
        else:
            seeds += split_hosts(text, port)
    if not seeds and (uri is None or uri.fqdn is None):
        raise ConfigurationError("need to specify at least one host")
    return seeds, uri


def _merged(seeds: list[Host], uri: ParsedUri | None, keywords: dict[str, Any]) -> ClientOptions:
    if keywords.get("srv_host_validator") is not None and (uri is None or uri.fqdn is None):
        raise ConfigurationError("srv_host_validator is only allowed with 'mongodb+srv://' URIs")
    if uri is None:
        return ClientOptions(seeds, resolve_aliases(keywords))
    from_uri, notes = check(uri.options, lenient=True)
    if uri.fqdn is None:
        refuse_srv_options(from_uri)
    for name, value in (("username", uri.username), ("password", uri.password or None)):
        if value is not None:
            from_uri[name] = value
    given = resolve_aliases({**resolve_aliases(from_uri), **keywords})
    return ClientOptions(seeds, given, uri.database, uri.fqdn, [*uri.warnings, *notes])


def refuse_srv_options(options: dict[str, Any]) -> None:
    """Raise ConfigurationError for options that only a mongodb+srv:// connection string may have."""
    for name in ("srvservicename", "srvallowedhostssuffix", "srvmaxhosts"):
        # srvMaxHosts=0 asks for nothing.
        if options.get(name, 0) != 0:
            raise ConfigurationError(f"The {OPTIONS[name].name} option is only allowed with "
                                     "'mongodb+srv://' URIs")
