"""Connection strings (connection string specification): `parse` takes one apart, `check` checks its options.

Names of `mongodb+srv://` are not resolved here: `fqdn` is the name to look up.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, unquote_plus

from geomongo._options.table import OPTIONS, unknown_option
from geomongo.errors import ConfigurationError, InvalidURI

SCHEME = "mongodb://"
SRV_SCHEME = "mongodb+srv://"
DEFAULT_PORT = 27017

Host = tuple[str, int | None]

_UNESCAPED_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")
_BAD_DATABASE = re.compile(r'[/ "$\\]')
_ESCAPE_HINT = "username and password must be escaped (RFC 3986): use urllib.parse.quote_plus"
# Their checks decode the parts of the value themselves.
_DECODED_LATER = frozenset({"authmechanismproperties", "readpreferencetags"})
_ONCE_ONLY = frozenset({"proxyhost", "proxyport", "proxyusername", "proxypassword"})
# Two of these in one set of options contradict each other, whatever their values (uri-options specification).
_EXCLUSIVE_TLS = (
    ("tlsinsecure", ("tlsallowinvalidcertificates", "tlsallowinvalidhostnames", "tlsdisableocspendpointcheck",
                     "tlsdisablecertificaterevocationcheck")),
    ("tlsallowinvalidcertificates", ("tlsdisableocspendpointcheck", "tlsdisablecertificaterevocationcheck")),
    ("tlsdisablecertificaterevocationcheck", ("tlsdisableocspendpointcheck",)),
)


@dataclass
class ParsedUri:
    """The parts of a connection string. `options` holds raw texts by lower-case name."""

    hosts: list[Host]
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    collection: str | None = None
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    fqdn: str | None = None
    warnings: list[str] = field(default_factory=list)


def parse(uri: str, default_port: int | None = DEFAULT_PORT) -> ParsedUri:
    """Take a connection string apart. Raises InvalidURI, ConfigurationError or ValueError (wrong hosts)."""
    is_srv = uri.startswith(SRV_SCHEME)
    if not is_srv and not uri.startswith(SCHEME):
        raise InvalidURI(f"Invalid URI scheme: URI must begin with '{SCHEME}' or '{SRV_SCHEME}'")
    rest, _, query = uri[len(SRV_SCHEME if is_srv else SCHEME):].partition("?")
    authority, _, path = rest.partition("/")
    if not rest:
        raise InvalidURI("Must provide at least one hostname or IP")
    userinfo, at, hosts = authority.rpartition("@")
    parsed = ParsedUri([])
    if at:
        parsed.username, parsed.password = parse_userinfo(userinfo)
    if is_srv:
        parsed.fqdn = _service_name(hosts)
    else:
        parsed.hosts = split_hosts(hosts, default_port)
    if path:
        parsed.database, parsed.collection = _namespace(path)
    if query:
        parsed.options, parsed.warnings = split_query(query)
    return parsed


def parse_userinfo(userinfo: str) -> tuple[str, str]:
    """The decoded user name and password ("" where there is none). Raises InvalidURI."""
    if "@" in userinfo or userinfo.count(":") > 1 or _UNESCAPED_PERCENT.search(userinfo):
        raise InvalidURI(_ESCAPE_HINT)
    user, _, password = userinfo.partition(":")
    if not user:
        raise InvalidURI("The empty string is not a valid username")
    return unquote_plus(user), unquote_plus(password)


def _service_name(hosts: str) -> str:
    """The one host name of a mongodb+srv:// URI."""
    if "," in hosts:
        raise InvalidURI(f"{SRV_SCHEME} URIs must include one, and only one, hostname")
    name, port = parse_host(hosts, None) if hosts else ("", None)
    if not name:
        raise InvalidURI("Must provide at least one hostname or IP")
    if port is not None:
        raise InvalidURI(f"{SRV_SCHEME} URIs must not include a port number")
    if _is_ip_address(name):
        raise ConfigurationError(f"Invalid URI host: an IP address is not a valid hostname for "
                                 f"'{SRV_SCHEME}'. Did you mean to use '{SCHEME}'?")
    return name


def _is_ip_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _namespace(path: str) -> tuple[str, str | None]:
    database, dot, collection = unquote_plus(path).partition(".")
    if _BAD_DATABASE.search(database):
        raise InvalidURI(f'Bad database name "{database}"')
    return database, collection if dot else None


# -- hosts

def split_hosts(hosts: str, default_port: int | None = DEFAULT_PORT) -> list[Host]:
    """The hosts of a comma-separated list; a Unix socket is `(path, None)`.

    Raises ConfigurationError for an empty host, ValueError for a wrong port or address.
    """
    found: list[Host] = []
    for text in hosts.split(","):
        if not text:
            raise ConfigurationError("Empty host (or extra comma in host list)")
        if text.endswith(".sock"):
            found.append((unquote(text), None))
        else:
            found.append(parse_host(text, default_port))
    return found


def parse_host(entity: str, default_port: int | None = DEFAULT_PORT) -> Host:
    """The lower-case host and the port of `host`, `host:port` or `[IPv6]:port`. Raises ValueError."""
    if not entity:
        raise ValueError("Empty host")
    port: int | str | None = default_port
    if entity.startswith("["):
        host, port = parse_ipv6_literal_host(entity, default_port)
    elif entity.count(":") > 1:
        raise ValueError("Reserved characters such as ':' must be escaped (RFC 2396). An IPv6 address "
                         "literal must be enclosed in '[' and ']' (RFC 2732).")
    else:
        host, colon, digits = entity.partition(":")
        port = digits if colon else default_port
    if isinstance(port, str):
        port = _port(port)
    return host.lower(), port


def _port(text: str) -> int:
    if any(character.isspace() for character in text):
        raise ValueError(f"Port contains whitespace: {text!r}")
    # The text itself may be a password whose special characters were not escaped: it is not shown.
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"Port contains non-digit characters. Hint: {_ESCAPE_HINT}")
    if not 0 < int(text) <= 65535:
        raise ValueError("Port must be an integer between 1 and 65535")
    return int(text)


def parse_ipv6_literal_host(entity: str, default_port: int | None) -> tuple[str, str | int | None]:
    """The address between brackets, and the port as text or the default. Raises ValueError."""
    address, bracket, port = entity[1:].partition("]")
    if not bracket:
        raise ValueError("an IPv6 address literal must be enclosed in '[' and ']' (RFC 2732)")
    if port and not port.startswith(":"):
        raise ValueError("after an IPv6 address literal only ':' and a port may follow")
    return address, port[1:] if port else default_port


# -- options

def split_query(query: str) -> tuple[dict[str, Any], list[str]]:
    """The raw options of a query string, and warnings about repeated ones. Raises InvalidURI."""
    if "&" in query and ";" in query:
        raise InvalidURI("Can not mix '&' and ';' for option separators")
    options: dict[str, Any] = {}
    warnings: list[str] = []
    for pair in query.split(";" if ";" in query else "&"):
        if pair.count("=") != 1:
            raise InvalidURI("MongoDB URI options are key=value pairs")
        name, text = pair.split("=")
        _add_option(options, warnings, name, text)
    return options, warnings


def _add_option(options: dict[str, Any], warnings: list[str], name: str, text: str) -> None:
    key = name.lower()
    row = OPTIONS.get(key)
    if row is not None and row.repeatable:
        options.setdefault(key, []).append(text)
        return
    value = text if key in _DECODED_LATER else unquote_plus(text)
    if key == "authsource" and not value:
        raise InvalidURI("the authSource database cannot be an empty string")
    if key in options:
        if key in _ONCE_ONLY:
            raise InvalidURI(f"URI option {name} may be given only once")
        warnings.append(f"Duplicate URI option '{name}'.")
    options[key] = value


def resolve_aliases(options: dict[str, Any]) -> dict[str, Any]:
    """Checked options under their main names. Raises InvalidURI if an alias contradicts its option."""
    resolved: dict[str, Any] = {}
    for key, value in options.items():
        row = OPTIONS.get(key)
        main = row.alias_of.lower() if row is not None and row.alias_of else key
        if resolved.setdefault(main, value) != value:
            raise InvalidURI(f"Can not specify conflicting values for URI options {key} and {main}.")
    return resolved


def refuse_contradictions(options: dict[str, Any]) -> None:
    """Raise InvalidURI for TLS options that exclude each other, and for incomplete proxy options."""
    for first, others in _EXCLUSIVE_TLS:
        for other in others:
            if first in options and other in options:
                raise InvalidURI(f"URI options {OPTIONS[first].name} and {OPTIONS[other].name} cannot be "
                                 "specified simultaneously.")
    if "proxyhost" not in options and not _ONCE_ONLY.isdisjoint(options):
        raise InvalidURI("proxyPort, proxyUsername and proxyPassword need proxyHost")
    if ("proxyusername" in options) != ("proxypassword" in options):
        raise InvalidURI("proxyUsername and proxyPassword need each other")


def check(raw: dict[str, Any], lenient: bool, keywords: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Checked values by lower-case name, and warnings.

    `raw` may have names in any case. What is wrong is left out with a warning if `lenient`, else it raises
    TypeError, ValueError or ConfigurationError. `keywords` allows what may not stand in a connection string.
    """
    checked: dict[str, Any] = {}
    warnings: list[str] = []
    for name, value in raw.items():
        try:
            checked[name.lower()] = _checked(name, value, keywords)
        except (TypeError, ValueError, KeyError, ConfigurationError) as error:
            if not lenient:
                raise
            warnings.append(str(error))
    return checked, warnings


def _checked(name: str, value: Any, keywords: bool) -> Any:
    row = OPTIONS.get(name.lower())
    if row is None or (row.keyword_only and not keywords):
        raise ConfigurationError(unknown_option(name))
    return row.check(name, value)
