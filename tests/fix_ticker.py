"""The proof that the hub was not held: a ticker runs beside the test, and the test fails when it was late."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contrib.ticker import HubTicker

# Milliseconds.  A test with a stricter promise to keep sets its own: ``ticker.bound_ms = 10``.
DEFAULT_BOUND_MS = 50.0


class BoundedTicker(HubTicker):
    """A HubTicker with the bound that the fixture checks when the test is over."""

    bound_ms = DEFAULT_BOUND_MS


@pytest.fixture
def ticker() -> Iterator[BoundedTicker]:
    """Fails the test when its hub was held longer than ``ticker.bound_ms``; collector pauses not counted."""
    running = BoundedTicker()
    running.start()
    yield running
    running.stop()
    held, bound = running.longest_ms, running.bound_ms
    assert held <= bound, f"the hub was held for {held:.1f} ms, the bound is {bound:.1f} ms"
