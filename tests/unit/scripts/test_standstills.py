"""A pause of the machine and a set clock are seen; a busy machine is neither."""

from __future__ import annotations

import threading
from itertools import chain, repeat

import pytest

from scripts import standstills
from scripts.standstills import FOUND_MAX, Standstills
from tests.support.waiting import until


def looked(*seconds: tuple[float, float]) -> list[str]:
    """What is said if clock and time go on by these seconds between looks."""
    clock = [0.0, 0.0]
    watch = Standstills(lambda: clock[0], lambda: clock[1])
    for by_clock, by_time in seconds:
        clock[0] += by_clock
        clock[1] += by_time
        watch.look()
    return [sentence.rsplit(" ", 2)[0] for sentence in watch.found]


@pytest.mark.parametrize(
    ("by_clock", "by_time", "told"),
    [
        (1.0, 1.0, []),
        (5.5, 5.5, []),
        (373.0, 373.0, ["nothing ran for 372 s"]),
        (661.0, 1.0, ["the clock went on by 660 s"]),
        (-59.0, 1.0, ["the clock went back by 60 s"]),
        (671.0, 11.0, ["nothing ran for 10 s", "the clock went on by 660 s"]),
    ],
)
def test_each_is_told(by_clock: float, by_time: float, told: list[str]) -> None:
    assert looked((1, 1), (by_clock, by_time), (1, 1)) == told


def test_they_are_bounded() -> None:
    assert len(looked(*repeat((100, 100), FOUND_MAX + 5))) == FOUND_MAX


def test_it_looks_by_itself_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standstills, "LOOK_S", 0.001)
    times = chain(range(3), repeat(1000))
    with Standstills(lambda: 0.0, lambda: next(times)) as watch:
        until(lambda: watch.found)
    assert watch.found[0].startswith("nothing ran for 998 s")
    assert "standstills" not in {thread.name for thread in threading.enumerate()}
