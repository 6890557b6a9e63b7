"""Round-trip time as servers are compared by it.

Source: specifications/source/server-selection/server-selection.md, "Calculation of Average Round Trip Times", and
server-discovery-and-monitoring/server-monitoring.md, "Measuring RTT".
"""
from __future__ import annotations

from collections import deque
from typing import Optional

_WEIGHT = 0.2
_SAMPLES = 10


class RoundTripTime:
    """Exponentially weighted average, and minimum of the last ten samples; in seconds."""

    __slots__ = ("_samples", "average")

    def __init__(self) -> None:
        self._samples: deque[float] = deque(maxlen=_SAMPLES)
        self.average: Optional[float] = None

    def add(self, sample: float) -> None:
        """Take one measurement in."""
        self._samples.append(sample)
        average = self.average
        self.average = sample if average is None else _WEIGHT * sample + (1 - _WEIGHT) * average

    def reset(self) -> None:
        """Forget everything: the server is unknown again."""
        self._samples.clear()
        self.average = None

    @property
    def minimum(self) -> float:
        """Smallest of the last ten samples; 0 until there are two."""
        return min(self._samples) if len(self._samples) > 1 else 0.0
