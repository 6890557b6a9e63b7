"""Who a client authenticates as: which options a mechanism needs, and in which database the user is."""
from __future__ import annotations

from typing import Any, NamedTuple

from geomongo.errors import ConfigurationError

EXTERNAL = "$external"
DEFAULT_MECHANISM = "DEFAULT"
EXTERNAL_MECHANISMS = frozenset({"GSSAPI", "MONGODB-X509", "MONGODB-AWS", "MONGODB-OIDC"})
# They can do without a user name: a certificate, the environment or a callback says who it is.
NAMELESS_MECHANISMS = frozenset({"MONGODB-X509", "MONGODB-AWS", "MONGODB-OIDC"})
PASSWORD_MECHANISMS = frozenset({"DEFAULT", "SCRAM-SHA-1", "SCRAM-SHA-256"})


class Credentials(NamedTuple):
    """What authentication needs. The password is never shown."""

    mechanism: str | None
    source: str
    username: str | None
    password: str | None
    properties: dict[str, Any]

    def __repr__(self) -> str:
        return (f"Credentials(mechanism={self.mechanism!r}, source={self.source!r}, "
                f"username={self.username!r})")


def credentials(options: dict[str, Any], database: str | None) -> Credentials:
    """The credentials that checked options give. `mechanism` is None if nobody authenticates.

    Raises ConfigurationError or ValueError for options that a mechanism cannot use.
    """
    username, password = options.get("username") or None, options.get("password")
    source = options.get("authsource")
    mechanism = options.get("authmechanism")
    properties = options.get("authmechanismproperties") or {}
    if mechanism is None and username is None:
        return Credentials(None, source or database or "admin", None, password, properties)
    mechanism = mechanism or DEFAULT_MECHANISM
    _check(mechanism, username, password, source)
    return Credentials(mechanism, _source(mechanism, source, database), username, password, properties)


def _check(mechanism: str, username: str | None, password: str | None, source: str | None) -> None:
    if username is None and mechanism not in NAMELESS_MECHANISMS:
        raise ConfigurationError(f"{mechanism} requires a username")
    if password is None and mechanism in PASSWORD_MECHANISMS:
        raise ConfigurationError("A password is required")
    if mechanism in EXTERNAL_MECHANISMS and source not in (None, EXTERNAL):
        kind = ConfigurationError if mechanism == "MONGODB-AWS" else ValueError
        raise kind(f"authentication source must be {EXTERNAL} or None for {mechanism}")
    if mechanism == "MONGODB-X509" and password is not None:
        raise ConfigurationError(f"Passwords are not supported by {mechanism}")
    if mechanism == "MONGODB-AWS" and username is not None and password is None:
        raise ConfigurationError(f"username without a password is not supported by {mechanism}")


def _source(mechanism: str, source: str | None, database: str | None) -> str:
    if mechanism in EXTERNAL_MECHANISMS:
        return EXTERNAL
    return source or database or (EXTERNAL if mechanism == "PLAIN" else "admin")
