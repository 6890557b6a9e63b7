"""Tools to take MongoDB connection strings apart and to check them, with PyMongo's names.

`mongodb+srv://` names are not looked up here: `parse_uri` gives the name as `fqdn`, and no nodes.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from geomongo._options.client_options import refuse_srv_options
from geomongo._options.table import OPTIONS
from geomongo._options.uri import (
    DEFAULT_PORT,
    SCHEME,
    SRV_SCHEME,
    Host,
    check,
    parse,
    parse_host,
    parse_ipv6_literal_host,
    parse_userinfo,
    refuse_contradictions,
    resolve_aliases,
    split_hosts,
    split_query,
)
from geomongo.errors import ConfigurationError

__all__ = [
    "DEFAULT_PORT",
    "SCHEME",
    "SRV_SCHEME",
    "parse_host",
    "parse_ipv6_literal_host",
    "parse_uri",
    "parse_userinfo",
    "split_hosts",
    "split_options",
    "validate_options",
]

_IMPLIED_BY_INSECURE = ("tlsallowinvalidcertificates", "tlsallowinvalidhostnames",
                        "tlsdisableocspendpointcheck")


def validate_options(opts: Mapping[str, Any], warn: bool = False) -> dict[str, Any]:
    """The checked values of options, under the names given.

    With `warn`, wrong ones are left out with a UserWarning; else they raise TypeError, ValueError or
    ConfigurationError.
    """
    checked, notes = check(dict(opts), warn)
    _warn(notes)
    return {name: checked[name.lower()] for name in opts if name.lower() in checked}


def split_options(opts: str, validate: bool = True, warn: bool = False,
                  normalize: bool = True) -> dict[str, Any]:
    """The options of a query string, by their documented names. Raises InvalidURI, or as validate_options."""
    raw, notes = split_query(opts)
    _warn(notes)
    return _finished(raw, validate, warn, normalize)


def _finished(raw: dict[str, Any], validate: bool, warn: bool, normalize: bool) -> dict[str, Any]:
    refuse_contradictions(raw)
    values = resolve_aliases(raw)
    if validate:
        values, notes = check(values, warn)
        _warn(notes)
    if normalize and "tlsinsecure" in values:
        values.update(dict.fromkeys(_IMPLIED_BY_INSECURE, values["tlsinsecure"]))
    return {OPTIONS[key].name if key in OPTIONS else key: value for key, value in values.items()}


def parse_uri(uri: str, default_port: int | None = DEFAULT_PORT, validate: bool = True, warn: bool = False,
              normalize: bool = True, connect_timeout: float | None = None,
              srv_service_name: str | None = None, srv_max_hosts: int | None = None,
              srv_allowed_hosts_suffix: str | None = None,
              srv_host_validator: Callable[[str], bool] | None = None) -> dict[str, Any]:
    """The parts of a connection string: nodelist, username, password, database, collection, options, fqdn.

    Durations that are named ...MS come out in seconds, except wTimeoutMS. The arguments from
    `connect_timeout` on belong to the look-up of mongodb+srv:// names. Raises InvalidURI,
    ConfigurationError, ValueError or TypeError.
    """
    parsed = parse(uri, default_port)
    _warn(parsed.warnings)
    options = _finished(parsed.options, validate, warn, normalize)
    _check_nodes(parsed.hosts, parsed.fqdn, {name.lower(): value for name, value in options.items()})
    return {
        "nodelist": parsed.hosts,
        "username": parsed.username,
        "password": parsed.password or None,
        "database": parsed.database,
        "collection": parsed.collection,
        "options": options,
        "fqdn": parsed.fqdn,
    }


def _check_nodes(hosts: list[Host], fqdn: str | None, options: dict[str, Any]) -> None:
    if fqdn is None:
        refuse_srv_options(options)
    for name in ("directConnection", "loadBalanced"):
        if options.get(name.lower()) is True and len(hosts) > 1:
            raise ConfigurationError(f"Cannot specify multiple hosts with {name}=true")
    if options.get("loadbalanced") is True:
        for name in ("directConnection", "replicaSet"):
            if options.get(name.lower()):
                raise ConfigurationError(f"Cannot specify {name} with loadBalanced=true")


def _warn(notes: list[str]) -> None:
    for text in notes:
        warnings.warn(text, UserWarning, stacklevel=3)


# Names that PyMongo's module has too.
SCHEME_LEN = len(SCHEME)
SRV_SCHEME_LEN = len(SRV_SCHEME)
