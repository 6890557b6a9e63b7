"""Time, as everything above this room gets it."""
from __future__ import annotations

from time import monotonic

#: Seconds on a clock that never goes back; for durations and deadlines.
now = monotonic

__all__ = ["now"]
