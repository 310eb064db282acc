"""The clock of the machine and the one of tests wait alike: until an event is set, or until the time has come."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.manual_clock import ManualClock
from zoe_lib.clock import SYSTEM_CLOCK, Clock


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


@pytest.mark.parametrize("clock", [SYSTEM_CLOCK, ManualClock()], ids=["system", "manual"])
def test_a_wait_returns_whether_the_event_is_set(clock: Clock) -> None:
    event = threading.Event()

    assert not clock.wait(event, 0.0)
    event.set()
    assert clock.wait(event, 10.0)


@pytest.mark.parametrize("clock", [SYSTEM_CLOCK, ManualClock()], ids=["system", "manual"])
def test_an_event_that_another_thread_sets_ends_the_wait(clock: Clock, pool: ThreadPoolExecutor) -> None:
    event = threading.Event()
    waits = pool.submit(clock.wait, event, 10.0)

    event.set()

    assert waits.result(10.0)


def test_advancing_wakes_those_whose_time_has_come_alone(pool: ThreadPoolExecutor) -> None:
    clock, early, late = ManualClock(), threading.Event(), threading.Event()
    first, second = pool.submit(clock.wait, early, 5.0), pool.submit(clock.wait, late, 6.0)
    clock.wait_for_waiters(2)

    clock.advance(5.0)

    assert not first.result(10.0)
    assert not second.done()
    clock.advance(1.0)
    assert not second.result(10.0)


def test_sleep_ends_when_time_has_passed(pool: ThreadPoolExecutor) -> None:
    clock = ManualClock()
    sleeps = pool.submit(clock.sleep, 3600.0)
    clock.wait_for_waiters()

    clock.advance(3600.0)

    sleeps.result(10.0)


def test_setting_the_time_of_day_leaves_intervals_alone() -> None:
    clock = ManualClock(50.0)

    clock.set_wall(10.0)
    clock.advance(2.0)

    assert (clock.now_s(), clock.monotonic_s()) == (12.0, 52.0)


def test_the_clock_of_the_machine_goes_on() -> None:
    before = SYSTEM_CLOCK.monotonic_s()

    SYSTEM_CLOCK.sleep(0.001)

    assert SYSTEM_CLOCK.monotonic_s() > before
    assert SYSTEM_CLOCK.now_s() > 1.7e9
