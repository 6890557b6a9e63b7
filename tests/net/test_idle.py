"""maxIdleTimeMS: a connection that has waited too long is not used again."""
from __future__ import annotations

import math

import pytest

from geomongo._deployment.pool import Pool
from tests.fakes.null_connection import NullConnection

pytestmark = pytest.mark.net


@pytest.mark.parametrize("max_idle, same", [(None, True), (60.0, True), (math.nextafter(0.0, -1.0), False)])
def test_idle_connections_perish(max_idle: float | None, same: bool) -> None:
    pool = Pool("null:1", NullConnection, 5, 2, None, max_idle)
    first = pool.checkout()
    pool.checkin(first)
    again = pool.checkout()
    assert (again is first) == same
    assert first.stream.closed != same
    pool.checkin(again)
    assert (pool.size, pool.idle, pool.in_use) == (1, 1, 0)
