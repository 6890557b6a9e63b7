"""What a library built on geomongo adds to the client metadata of the handshake."""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["DriverInfo"]


class _DriverInfoFields(NamedTuple):
    name: str | None
    version: str | None
    platform: str | None


class DriverInfo(_DriverInfoFields):
    """Name, version and platform of a library on top of the driver. Raises TypeError for non-strings."""

    __slots__ = ()

    def __new__(cls, name: str, version: str | None = None, platform: str | None = None) -> DriverInfo:
        self = super().__new__(cls, name, version, platform)
        for key, value in self._asdict().items():
            if value is not None and not isinstance(value, str):
                raise TypeError(f"Wrong type for DriverInfo {key} option, value must be an instance of str, "
                                f"not {type(value)}")
        return self
