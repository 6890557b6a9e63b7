"""The ticker that judges other tests is judged here."""

from __future__ import annotations

import gc
import time

import gevent
import pytest

from contrib.ticker import HubTicker


@pytest.fixture
def running():
    ticker = HubTicker(period_ms=1)
    ticker.start()
    gevent.idle()
    yield ticker
    ticker.stop()


def hold(seconds: float) -> None:
    """Keeps the hub by blocking the thread, as a driver that does not cooperate would."""
    time.sleep(seconds)


def test_a_held_hub_is_seen(running: HubTicker) -> None:
    gevent.sleep(0.005)
    hold(0.08)
    running.stop()
    assert running.longest_ms > 70


def test_a_waiting_greenlet_is_not_a_held_hub(running: HubTicker) -> None:
    gevent.sleep(0.08)
    running.stop()
    assert running.ticks > 1
    assert running.longest_ms < 70


def test_collector_pauses_are_counted_apart(running: HubTicker) -> None:
    gevent.sleep(0.005)
    rubbish = [[index] for index in range(300_000)]
    running.reset()
    gevent.sleep(0.005)
    gc.collect()
    running.stop()
    assert running.longest_gc_ms > 0
    assert running.longest_ms < running.longest_raw_ms
    assert len(rubbish) == 300_000


def test_it_leaves_nothing_behind() -> None:
    before = len(gc.callbacks)
    ticker = HubTicker().start()
    assert len(gc.callbacks) == before + 1
    ticker.stop()
    ticker.stop()
    assert len(gc.callbacks) == before
