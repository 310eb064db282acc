"""A request with a minimum position waits for the master's tick, for a bounded time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.plain_api import refusal
from tests.support.waiting import until
from zoe_api.http.problems.codes import Code
from zoe_api.services.positions import WAIT_S, Positions
from zoe_lib.messaging.client import MasterRefused

Ask = Callable[[str, dict[str, Any]], dict[str, Any]]


class Passing(ManualClock):
    """A clock in which sleeping advances the time."""

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)


def answers(*reached: int) -> tuple[Ask, list[int]]:
    """Return a master at these positions in turn, and its requests."""
    left, asked = list(reached), list[int]()

    def ask(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        assert kind == "position"
        asked.append(body["wanted"])
        return {"reached": left.pop(0) if len(left) > 1 else left[0]}

    return ask, asked


def newest() -> int:
    return 10


def test_it_asks_until_the_master_has_seen_the_position_and_remembers_it() -> None:
    positions, (ask, asked) = Positions(Passing()), answers(0, 6, 8)
    positions.wait(7, "ada", ask, newest)
    assert asked == [7, 7, 7]
    positions.wait(8, "ada", ask, newest)
    assert asked == [7, 7, 7]  # it has been there


def test_a_master_that_does_not_come_so_far_is_waited_for_two_seconds() -> None:
    clock = Passing(100.0)
    positions, (ask, asked) = Positions(clock), answers(6)
    with refusal(Code.POSITION_NOT_REACHED) as found:
        positions.wait(7, "ada", ask, newest)
    assert "7 was not reached within 2 s; the master is at 6" in found.problem.detail
    assert WAIT_S <= clock.monotonic_s() - 100.0 < WAIT_S + 0.2
    assert len(asked) < 30


def test_a_position_that_the_journal_does_not_have_is_refused_at_once() -> None:
    ask, asked = answers(6)
    with refusal(Code.POSITION_UNKNOWN):
        Positions(Passing()).wait(11, "ada", ask, newest)
    assert asked == []


def test_an_older_master_cannot_tell() -> None:
    def ask(kind: str, body: dict[str, Any]) -> dict[str, Any]:
        raise MasterRefused("unknown_kind", "no such question")

    with refusal(Code.POSITION_NOT_REACHED):
        Positions(Passing()).wait(7, "ada", ask, newest)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def test_four_requests_of_a_user_wait_at_a_time_and_others_go_on(pool: ThreadPoolExecutor) -> None:
    clock, (late, asked), (present, _) = ManualClock(), answers(6), answers(7)
    positions = Positions(clock)
    waiting = [pool.submit(positions.wait, 7, "ada", late, newest) for _ in range(4)]
    until(lambda: len(asked) >= 4)
    clock.wait_for_waiters(4)
    with refusal(Code.POSITION_BUSY):
        positions.wait(7, "ada", late, newest)
    positions.wait(7, "bob", present, newest)
    clock.advance(WAIT_S)
    for future in waiting:
        with refusal(Code.POSITION_NOT_REACHED):
            future.result(10.0)
    positions.wait(7, "ada", present, newest)
