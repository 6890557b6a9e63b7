"""Time, as everything above this room gets it."""
from __future__ import annotations

from time import monotonic, time

#: Seconds on a clock that never goes back; for durations and deadlines.
now = monotonic
#: Seconds since the epoch; for what people read.
wall = time

__all__ = ["now", "wall"]
