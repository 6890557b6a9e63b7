"""Checks of single option values.

Each takes the option's name and a value, a str if it comes from a connection string, and returns the value to
use or raises TypeError, ValueError or ConfigurationError.
"""
from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_plus

from bson.binary import UuidRepresentation
from bson.codec_options import DatetimeConversion, TypeRegistry

from geomongo.checks import validate_boolean, validate_list, validate_string
from geomongo.driver_info import DriverInfo
from geomongo.errors import ConfigurationError
from geomongo.monitoring import validate_event_listeners
from geomongo.read_preferences import MODES, ServerMode
from geomongo.server_api import ServerApi

__all__ = [
    "validate_boolean",
    "validate_event_listeners",
    "validate_list",
    "validate_string",
]

AUTH_MECHANISMS = ("DEFAULT", "GSSAPI", "MONGODB-AWS", "MONGODB-OIDC", "MONGODB-X509", "PLAIN", "SCRAM-SHA-1",
                   "SCRAM-SHA-256")
AUTH_MECHANISM_PROPERTIES = ("SERVICE_NAME", "SERVICE_HOST", "SERVICE_REALM", "CANONICALIZE_HOST_NAME",
                             "AWS_SESSION_TOKEN", "ENVIRONMENT", "TOKEN_RESOURCE")
CANONICALIZE_VALUES: dict[str, bool | str] = {"true": True, "false": False, "none": "none",
                                              "forward": "forward",
                                              "forwardAndReverse": "forwardAndReverse"}
MONITORING_MODES = ("auto", "stream", "poll")
UNICODE_HANDLERS = ("strict", "ignore", "replace")
UUID_REPRESENTATIONS = {
    "unspecified": UuidRepresentation.UNSPECIFIED,
    "standard": UuidRepresentation.STANDARD,
    "pythonLegacy": UuidRepresentation.PYTHON_LEGACY,
    "javaLegacy": UuidRepresentation.JAVA_LEGACY,
    "csharpLegacy": UuidRepresentation.CSHARP_LEGACY,
}
ONE_BILLION = 1e9
APPNAME_BYTES = 128


def boolean(option: str, value: Any) -> bool:
    """True, False, "true" or "false"."""
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise ValueError(f"The value of {option} must be 'true' or 'false'")
        return value == "true"
    return validate_boolean(option, value)


def integer(option: str, value: Any) -> int:
    """An int, or a str of one."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise ValueError(f"The value of {option} must be an integer") from None
    raise TypeError(f"Wrong type for {option}, value must be an integer, not {type(value)}")


def positive_integer(option: str, value: Any) -> int:
    """An int above 0."""
    number = integer(option, value)
    if number <= 0:
        raise ValueError(f"The value of {option} must be a positive integer")
    return number


def non_negative_integer(option: str, value: Any) -> int:
    """An int of 0 or more."""
    number = integer(option, value)
    if number < 0:
        raise ValueError(f"The value of {option} must be a non negative integer")
    return number


def non_negative_integer_or_none(option: str, value: Any) -> int | None:
    """None, or an int of 0 or more."""
    return None if value is None else non_negative_integer(option, value)


def port(option: str, value: Any) -> int:
    """A port number from 1 to 65535."""
    number = integer(option, value)
    if not 0 < number <= 65535:
        raise ValueError(f"The value of {option} must be between 1 and 65535")
    return number


def string_or_none(option: str, value: Any) -> str | None:
    """None or a str."""
    return None if value is None else validate_string(option, value)


def write_acknowledgement(option: str, value: Any) -> int | str:
    """`w`: a number of members, or a name."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            number = int(value)
        except ValueError:
            return value
        return non_negative_integer(option, number)
    raise TypeError(f"Wrong type for {option}, value must be an integer or a string, not {type(value)}")


def _milliseconds(option: str, value: Any) -> float:
    """A number of milliseconds below a billion; the caller checks the lower bound."""
    if not isinstance(value, (int, float, str, bytes)):
        raise TypeError(f"{option} must be an integer or float, not {type(value)}")
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{option} must be an integer or float") from None
    if not number < ONE_BILLION:
        raise ValueError(f"{option} must be less than one billion")
    return number


def timeout_above_zero(option: str, value: Any) -> float | None:
    """None, or milliseconds above 0; returned in seconds."""
    if value is None:
        return None
    number = _milliseconds(option, value)
    if number <= 0:
        raise ValueError(f"{option} must be greater than 0 and less than one billion")
    return number / 1000


def interval(option: str, value: Any) -> float:
    """Milliseconds above 0, not None; returned in seconds."""
    seconds = timeout_above_zero(option, value)
    if seconds is None:
        raise TypeError(f"{option} must be an integer or float, not None")
    return seconds


def timeout_zero_is_none(option: str, value: Any) -> float | None:
    """None or 0 for no limit, or milliseconds; returned in seconds."""
    return timeout_or_zero(option, value) or None if value is not None else None


def timeout_or_zero(option: str, value: Any) -> float:
    """Milliseconds of 0 or more; returned in seconds."""
    if value is None:
        raise ConfigurationError(f"{option} cannot be None")
    number = _milliseconds(option, value)
    if number < 0:
        raise ValueError(f"{option} must be 0 or more and less than one billion")
    return number / 1000


def timeout_ms(option: str, value: Any) -> float | None:
    """timeoutMS: None, or milliseconds with 0 for no limit; returned in seconds."""
    return None if value is None else timeout_or_zero(option, value)


def threshold(option: str, value: Any) -> float:
    """Milliseconds of 0 or more, not None; returned in seconds."""
    if value is None:
        raise TypeError(f"{option} must be an integer or float, not None")
    return timeout_or_zero(option, value)


def max_staleness(option: str, value: Any) -> int:
    """Seconds above 0, or -1 for no bound."""
    if value in (-1, "-1"):
        return -1
    return positive_integer(option, value)


def read_preference_mode(option: str, value: Any) -> str:
    """The name of a mode."""
    if not isinstance(value, str) or value not in MODES:
        raise ValueError(f"{value!r} is not a valid read preference: {option} must be one of "
                         f"{', '.join(MODES)}")
    return value


def read_preference_tags(option: str, value: Any) -> list[dict[str, str]]:
    """Tag sets such as "dc:ny,rack:1": one str, or a list of them."""
    texts = value if isinstance(value, list) else [value]
    return [_tag_set(option, text) for text in texts]


def _tag_set(option: str, text: Any) -> dict[str, str]:
    if text == "":
        return {}
    try:
        pairs = [unquote_plus(pair).split(":") for pair in text.split(",")]
        return {name: tag for name, tag in pairs}
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"{text!r} not a valid value for {option}") from None


def read_preference(option: str, value: Any) -> ServerMode:
    """A read preference object."""
    if not isinstance(value, ServerMode):
        raise TypeError(f"{value!r} is not a read preference")
    return value


def auth_mechanism(option: str, value: Any) -> str:
    """The name of an authentication mechanism."""
    return one_of(option, value, AUTH_MECHANISMS)


def one_of(option: str, value: Any, choices: Iterable[str]) -> str:
    """One of some names."""
    names = tuple(choices)
    if isinstance(value, (list, dict)):
        raise TypeError(f"{option} must be a string, not {type(value)}")
    if value not in names:
        raise ValueError(f"{value!r} is not valid: {option} must be one of {', '.join(names)}")
    return str(value)


def auth_mechanism_properties(option: str, value: Any) -> dict[str, Any]:
    """Properties as a mapping, or as "NAME:value,NAME:value"."""
    if isinstance(value, Mapping):
        return {key: _property_from_mapping(key, item) for key, item in value.items()}
    validate_string(option, value)
    properties: dict[str, Any] = {}
    for text in unquote_plus(value).split(","):
        key, colon, item = text.partition(":")
        if not colon:
            # Not the text itself: it may be (part of) a token.
            raise ValueError(f"Malformed auth mechanism properties: {option} must be NAME:value,...")
        if key not in AUTH_MECHANISM_PROPERTIES:
            raise ValueError(f"{key} is not a supported auth mechanism property. Must be one of "
                             f"{', '.join(AUTH_MECHANISM_PROPERTIES)}")
        properties[key] = _canonicalize(item) if key == "CANONICALIZE_HOST_NAME" else item
    return properties


def _property_from_mapping(key: Any, item: Any) -> Any:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str) or callable(item) or "CALLBACK" in str(key):
        return item
    if key == "ALLOWED_HOSTS":
        return validate_list(key, item)
    raise TypeError(f"Invalid type for auth mechanism property {key}, {type(item)}")


def _canonicalize(item: str) -> bool | str:
    if item not in CANONICALIZE_VALUES:
        raise ValueError(f"CANONICALIZE_HOST_NAME {item!r} must be one of {', '.join(CANONICALIZE_VALUES)}")
    return CANONICALIZE_VALUES[item]


def compressors(option: str, value: Any) -> list[str]:
    """Names of compressors in order of preference. Unknown ones are dropped later, with a warning."""
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise TypeError(f"{option} must be a string or a list of strings, not {type(value)}")
    return [validate_string(option, name) for name in value]


def zlib_level(option: str, value: Any) -> int:
    """-1 (zlib's default) to 9."""
    try:
        level = int(value)
    except (TypeError, ValueError):
        raise TypeError(f"{option} must be an integer, not {value!r}") from None
    if not -1 <= level <= 9:
        raise ValueError(f"{option} must be between -1 and 9, not {level}.")
    return level


def appname(option: str, value: Any) -> str | None:
    """None, or a name of at most 128 bytes."""
    if value is None:
        return None
    if len(validate_string(option, value).encode("utf-8")) > APPNAME_BYTES:
        raise ValueError(f"{option} must be <= {APPNAME_BYTES} bytes")
    return str(value)


def readable_file(option: str, value: Any) -> str | None:
    """None, or the path of a file that can be read; the OSError of opening it otherwise."""
    if value is None:
        return None
    with open(validate_string(option, value), "rb"):
        return str(value)


def monitoring_mode(option: str, value: Any) -> str:
    """serverMonitoringMode."""
    return one_of(option, value, MONITORING_MODES)


def unicode_handler(option: str, value: Any) -> str:
    """What decoding does about invalid UTF-8."""
    return one_of(option, value, UNICODE_HANDLERS)


def uuid_representation(option: str, value: Any) -> int:
    """The name of a representation of UUIDs."""
    return UUID_REPRESENTATIONS[one_of(option, value, UUID_REPRESENTATIONS)]


def datetime_conversion(option: str, value: Any) -> DatetimeConversion:
    """A DatetimeConversion, its number or its name; None for the default."""
    if value is None:
        return DatetimeConversion.DATETIME
    if isinstance(value, str) and not value.isdigit():
        if value not in DatetimeConversion.__members__:
            raise KeyError(f"{value!r} is not valid: {option} must be one of "
                           f"{', '.join(DatetimeConversion.__members__)}")
        return DatetimeConversion[value]
    if not isinstance(value, (str, int)):
        raise TypeError(f"{option} must be a str or int representing DatetimeConversion")
    return DatetimeConversion(int(value))


def tzinfo(option: str, value: Any) -> datetime.tzinfo | None:
    """None or a time zone."""
    if value is not None and not isinstance(value, datetime.tzinfo):
        raise TypeError(f"{option} must be an instance of datetime.tzinfo, not {type(value)}")
    return value


def document_class(option: str, value: Any) -> Any:
    """A class of documents; bson checks that it is a mutable mapping."""
    if not isinstance(value, type):
        raise TypeError(f"{option} must be a class of documents, not {value!r}")
    return value


def type_registry(option: str, value: Any) -> TypeRegistry | None:
    """None or a TypeRegistry."""
    return _instance_or_none(option, value, TypeRegistry)  # type: ignore[no-any-return]


def server_api(option: str, value: Any) -> ServerApi | None:
    """None or a ServerApi."""
    return _instance_or_none(option, value, ServerApi)  # type: ignore[no-any-return]


def driver(option: str, value: Any) -> DriverInfo | None:
    """None or a DriverInfo."""
    return _instance_or_none(option, value, DriverInfo)  # type: ignore[no-any-return]


def _instance_or_none(option: str, value: Any, kind: type) -> Any:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{option} must be an instance of {kind.__name__}, not {type(value)}")
    return value


def callable_or_none(option: str, value: Any) -> Any:
    """None or something to call."""
    if value is not None and not callable(value):
        raise TypeError(f"{option} must be a callable, not {type(value)}")
    return value


def none_only(option: str, value: Any) -> None:
    """An option of a feature that is not there yet."""
    if value is not None:
        raise TypeError(f"{option} is not available in this version, and must be None")
