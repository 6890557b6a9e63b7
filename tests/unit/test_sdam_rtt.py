"""Round-trip times: the weighted average and the smallest of the last ten."""
from __future__ import annotations

import pytest

from geomongo._sdam.rtt import RoundTripTime


@pytest.mark.parametrize(("samples", "average", "minimum"), [
    ([], None, 0.0), ([5.0], 5.0, 0.0), ([5.0, 10.0], 6.0, 5.0), ([10.0, 5.0], 9.0, 5.0), ([5.0, 5.0, 5.0], 5.0, 5.0),
    ([1.0, *[2.0] * 9], None, 1.0), ([1.0, *[2.0] * 10], None, 2.0)])
def test_samples(samples, average, minimum):
    times = RoundTripTime()
    for sample in samples:
        times.add(sample)
    assert times.minimum == minimum
    if average is not None or not samples:
        assert times.average == average


def test_a_server_that_was_lost_begins_anew():
    times = RoundTripTime()
    times.add(5.0)
    times.add(5.0)
    times.reset()
    assert (times.average, times.minimum) == (None, 0.0)
    times.add(1.0)
    assert times.average == 1.0
