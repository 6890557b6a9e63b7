"""Long work takes turns: whoever else is on the hub runs between its pieces."""
from __future__ import annotations

import gevent
import pytest

from geomongo._execution.bulk import paced
from geomongo._net import sched

pytestmark = pytest.mark.net


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock finds that the turn is over."""
    monkeypatch.setattr(sched, "TURN", -1.0)


def test_a_timer_runs_between_pieces(impatient: None) -> None:
    ticks = []

    def tick() -> None:
        while True:
            gevent.sleep(0.000001)
            ticks.append(1)

    ticker = gevent.spawn(tick)
    try:
        assert list(paced(range(10_000))) == list(range(10_000))
        assert len(ticks) >= 10  # 20 turns were taken
    finally:
        ticker.kill()


def test_one_greenlet_in_each_iteration(impatient: None) -> None:
    order: list[int] = []

    def work(number: int) -> None:
        pacer = sched.Pacer()
        for _ in range(3):
            pacer()
            order.append(number)

    gevent.joinall([gevent.spawn(work, number) for number in range(4)], raise_error=True)
    assert order == [0, 1, 2, 3] * 3


def test_a_greenlet_killed_in_the_queue_leaves_it(impatient: None) -> None:
    order: list[str] = []

    def work(name: str) -> None:
        pacer = sched.Pacer()
        pacer()
        order.append(name)

    first, second, third = (gevent.spawn(work, name) for name in ("first", "second", "third"))
    gevent.sleep(0)
    second.kill()
    gevent.joinall([first, third], raise_error=True)
    assert order == ["first", "third"]
