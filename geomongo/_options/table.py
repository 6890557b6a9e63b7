"""All options of a client, one row each: name, check, where it may stand, default, alias, deprecation.

Names and meanings are those of the uri-options specification and of PyMongo's MongoClient. Durations are
checked into seconds, except where a name keeps its unit (wTimeoutMS: milliseconds).
"""
from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

from geomongo._options import validators as check

Check = Callable[[str, Any], Any]


class Option(NamedTuple):
    """One option. `keyword_only` ones hold objects or secrets, and may not stand in a connection string."""

    name: str
    check: Check
    default: Any = None
    keyword_only: bool = False
    alias_of: str | None = None
    repeatable: bool = False
    deprecation: str | None = None


_ROWS = (
    # Deployment
    Option("connect", check.boolean, True),
    Option("directConnection", check.boolean),
    Option("loadBalanced", check.boolean),
    Option("replicaSet", check.string_or_none),
    Option("srvServiceName", check.validate_string, "mongodb"),
    Option("srvMaxHosts", check.non_negative_integer, 0),
    Option("srvAllowedHostsSuffix", check.validate_string),
    Option("srv_host_validator", check.callable_or_none, keyword_only=True),
    Option("server_selector", check.callable_or_none, keyword_only=True),
    Option("localThresholdMS", check.threshold, 0.015),
    Option("serverSelectionTimeoutMS", check.timeout_or_zero, 30.0),
    Option("heartbeatFrequencyMS", check.interval, 10.0),
    Option("serverMonitoringMode", check.monitoring_mode, "auto"),
    Option("appname", check.appname),
    Option("driver", check.driver, keyword_only=True),
    Option("server_api", check.server_api, keyword_only=True),
    Option("event_listeners", check.validate_event_listeners, (), keyword_only=True),
    # Connections
    Option("connectTimeoutMS", check.timeout_zero_is_none, 20.0),
    Option("socketTimeoutMS", check.timeout_zero_is_none),
    Option("timeoutMS", check.timeout_ms),
    Option("maxPoolSize", check.non_negative_integer_or_none, 100),
    Option("minPoolSize", check.non_negative_integer, 0),
    Option("maxIdleTimeMS", check.timeout_above_zero),
    Option("maxConnecting", check.positive_integer, 2),
    Option("waitQueueTimeoutMS", check.timeout_above_zero),
    Option("waitQueueMultiple", check.non_negative_integer_or_none),
    Option("compressors", check.compressors, []),
    Option("zlibCompressionLevel", check.zlib_level, -1),
    Option("proxyHost", check.validate_string),
    Option("proxyPort", check.port, 1080),
    Option("proxyUsername", check.validate_string),
    Option("proxyPassword", check.validate_string),
    # Reads and writes
    Option("retryReads", check.boolean, True),
    Option("retryWrites", check.boolean, True),
    Option("maxAdaptiveRetries", check.non_negative_integer, 2),
    Option("max_adaptive_retries", check.non_negative_integer, keyword_only=True,
           alias_of="maxAdaptiveRetries"),
    Option("enableOverloadRetargeting", check.boolean, False),
    Option("enable_overload_retargeting", check.boolean, keyword_only=True,
           alias_of="enableOverloadRetargeting"),
    Option("readConcernLevel", check.string_or_none),
    Option("readPreference", check.read_preference_mode),
    Option("readPreferenceTags", check.read_preference_tags, repeatable=True),
    Option("maxStalenessSeconds", check.max_staleness, -1),
    Option("read_preference", check.read_preference, keyword_only=True),
    Option("w", check.write_acknowledgement),
    Option("wTimeoutMS", check.non_negative_integer),
    Option("journal", check.boolean),
    Option("fsync", check.boolean),
    # Authentication
    Option("username", check.string_or_none, keyword_only=True),
    Option("password", check.string_or_none, keyword_only=True),
    Option("authSource", check.validate_string),
    Option("authMechanism", check.auth_mechanism),
    Option("authMechanismProperties", check.auth_mechanism_properties),
    Option("authOIDCAllowedHosts", check.validate_list, keyword_only=True),
    # TLS
    Option("tls", check.boolean),
    Option("ssl", check.boolean, alias_of="tls"),
    Option("tlsInsecure", check.boolean),
    Option("tlsAllowInvalidCertificates", check.boolean, False),
    Option("tlsAllowInvalidHostnames", check.boolean, False),
    Option("tlsCAFile", check.readable_file),
    Option("tlsCertificateKeyFile", check.readable_file),
    Option("tlsCertificateKeyFilePassword", check.string_or_none),
    Option("tlsCRLFile", check.readable_file),
    Option("tlsDisableOCSPEndpointCheck", check.boolean, False),
    Option("tlsDisableCertificateRevocationCheck", check.boolean, False),
    # Documents
    Option("document_class", check.document_class, dict, keyword_only=True),
    Option("type_registry", check.type_registry, keyword_only=True),
    Option("tz_aware", check.boolean, False),
    Option("tzinfo", check.tzinfo, keyword_only=True),
    Option("uuidRepresentation", check.uuid_representation, 0),
    Option("unicode_decode_error_handler", check.unicode_handler, "strict"),
    Option("datetime_conversion", check.datetime_conversion),
    Option("auto_encryption_opts", check.none_only, keyword_only=True),
)

OPTIONS: dict[str, Option] = {row.name.lower(): row for row in _ROWS}


def unknown_option(name: str) -> str:
    """The message about an option that does not exist, with names that look like it."""
    similar = get_close_matches(name.lower(), OPTIONS)
    if not similar:
        return f"Unknown option: {name}."
    return f"Unknown option: {name}. Did you mean one of ({', '.join(OPTIONS[key].name for key in similar)})?"
