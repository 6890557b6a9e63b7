"""The Stable API: which version of the server's commands an application was written for."""
from __future__ import annotations

from typing import Any

__all__ = ["ServerApi", "ServerApiVersion"]


class ServerApiVersion:
    """The versions that exist."""

    V1 = "1"


class ServerApi:
    """A version of the Stable API, for `MongoClient(server_api=...)`.

    `strict` refuses commands outside the version, `deprecation_errors` those deprecated in it. Raises
    ValueError for an unknown version, TypeError for other wrong values.
    """

    __slots__ = ("__version", "__strict", "__deprecation_errors")

    def __init__(self, version: str, strict: bool | None = None,
                 deprecation_errors: bool | None = None) -> None:
        if version != ServerApiVersion.V1:
            raise ValueError(f"Unknown ServerApi version: {version}")
        for name, value in (("strict", strict), ("deprecation_errors", deprecation_errors)):
            if value is not None and not isinstance(value, bool):
                raise TypeError(f"Wrong type for ServerApi {name}, value must be an instance of bool, "
                                f"not {type(value)}")
        self.__version = version
        self.__strict = strict
        self.__deprecation_errors = deprecation_errors

    @property
    def version(self) -> str:
        return self.__version

    @property
    def strict(self) -> bool | None:
        return self.__strict

    @property
    def deprecation_errors(self) -> bool | None:
        return self.__deprecation_errors

    def command_fields(self) -> dict[str, Any]:
        """The fields that every command carries (versioned API specification)."""
        fields: dict[str, Any] = {"apiVersion": self.__version}
        if self.__strict is not None:
            fields["apiStrict"] = self.__strict
        if self.__deprecation_errors is not None:
            fields["apiDeprecationErrors"] = self.__deprecation_errors
        return fields

    def __repr__(self) -> str:
        return (f"ServerApi({self.__version!r}, strict={self.__strict}, "
                f"deprecation_errors={self.__deprecation_errors})")
