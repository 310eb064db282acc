"""Readings of progress: accepted ones, stored ones, and the estimated rest."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import pytest

from tests.support.applications import application, component
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.values.progress import (
    READINGS_MAX,
    NoProgress,
    ProgressHistory,
    ProgressProbe,
    ProgressReading,
    not_less,
    reading_of,
    remaining_s,
)


def steady(count: int, pace: float = 0.01, step_s: float = 5.0) -> list[ProgressReading]:
    return [ProgressReading(1000 + step_s * i, pace * step_s * i) for i in range(count)]


@pytest.mark.parametrize(
    ("done", "total"),
    [(math.nan, 1), (math.inf, 1), (-0.1, 1), (1.1, 1), (1, 0), (1, -1), (1, math.nan), (1, math.inf)],
)
def test_numbers_that_are_no_progress_are_refused(done: float, total: float) -> None:
    with pytest.raises(NoProgress):
        reading_of(0.0, done, total)


def test_one_lower_reading_is_not_believed_but_a_repeated_one_is() -> None:
    history = ProgressHistory(steady(8))
    assert history.take(ProgressReading(1040, 0.01)) == "it went backwards"
    assert history.readings[-1].share == pytest.approx(0.35)
    assert history.take(ProgressReading(1045, 0.4)) == ""
    for at_s, done in ((1050, 0.1), (1055, 0.12)):
        assert history.take(ProgressReading(at_s, done)) == "it went backwards"
    assert "goes on from there" in history.take(ProgressReading(1060, 0.14))
    assert [round(reading.share, 2) for reading in history.readings] == [0.0, 0.05, 0.1, 0.1, 0.12, 0.14]


def test_an_odd_high_reading_does_not_cost_the_readings_before_it() -> None:
    history = ProgressHistory(steady(4))
    assert history.take(ProgressReading(1020, 0.99)) == ""
    for at_s in (1025, 1030, 1035):
        history.take(ProgressReading(at_s, (at_s - 1000) / 100))
    assert [reading.at_s for reading in history.readings] == [1000, 1005, 1010, 1015, 1025, 1030, 1035]


def test_all_at_once_is_not_believed_and_all_after_a_part_is() -> None:
    history = ProgressHistory()
    assert "from the start" in history.take(ProgressReading(0, 1.0))
    assert "from the start" in history.take(ProgressReading(5, 1.0))
    assert history.readings == ()
    assert history.take(ProgressReading(10, 0.5)) == ""
    assert history.take(ProgressReading(15, 1.0)) == ""
    assert history.readings[-1].share == 1.0


def test_more_tasks_lower_the_share_and_fewer_done_ones_do_not() -> None:
    history = ProgressHistory([ProgressReading(0, 5, 10)])
    assert history.take(ProgressReading(5, 10, 10)) == ""
    assert history.take(ProgressReading(10, 10, 100)) == ""
    assert history.readings[-1].share == pytest.approx(0.1)
    later = not_less(ProgressReading(15, 3, 20), history.readings[-1])
    assert (later.at_s, later.done, later.total) == (15, 10, 100)
    assert not_less(ProgressReading(15, 11, 20), history.readings[-1]).total == 20


def test_a_clock_that_is_set_back_stops_nothing() -> None:
    history = ProgressHistory(steady(8))
    assert history.take(ProgressReading(500, 0.4)) == ""
    assert history.readings[-1].at_s == 500
    times = [reading.at_s for reading in history.readings]
    assert times == sorted(times)


@pytest.mark.parametrize("count", [33, 100, 5000])
def test_kept_readings_are_bounded_and_spread_over_the_time(count: int) -> None:
    history = ProgressHistory()
    for i in range(count):
        history.take(ProgressReading(5.0 * i, i, count))
    times = [reading.at_s for reading in history.readings]
    assert READINGS_MAX // 2 <= len(times) <= READINGS_MAX
    assert (times[0], times[-1]) == (0.0, 5.0 * (count - 1))
    assert max(b - a for a, b in pairwise(times)) <= times[-1] / 6


def test_the_rest_is_what_is_left_at_the_pace_of_late() -> None:
    rest = remaining_s(steady(12), 1055)  # 55 % are done, 1 % takes a second
    assert rest is not None
    assert (rest.seconds, rest.low_s, rest.high_s) == pytest.approx((45, 45, 45))
    later = remaining_s(steady(12), 1065)
    assert later is not None
    assert later.seconds == pytest.approx(35)
    late = remaining_s(steady(12), 2000)
    assert late is not None
    assert late.seconds == 0


def test_a_pace_that_changes_is_followed() -> None:
    readings = steady(30, pace=0.001)
    last = readings[-1]
    readings += [ProgressReading(last.at_s + 5 * i, last.done + 0.02 * i) for i in range(1, 25)]
    rest = remaining_s(readings[-READINGS_MAX:], readings[-1].at_s)
    assert rest is not None
    assert rest.seconds == pytest.approx((1 - readings[-1].done) / 0.004, rel=0.05)


def test_remaining_time_is_unknown_too_early_or_without_progress() -> None:
    assert remaining_s([], 0) is None
    assert remaining_s(steady(5), 2000) is None
    assert remaining_s(steady(20, pace=0.0), 2000) is None
    assert remaining_s([*steady(12), ProgressReading(1060, 1.0)], 1060) is None
    assert remaining_s(steady(12), 900) is None  # read by a clock that is ahead
    assert remaining_s([ProgressReading(7.0, i / 10) for i in range(8)], 7.0) is None


def test_one_odd_reading_changes_little() -> None:
    """Wherever it is, and whatever it says, for readings with noise of 20 % of a step."""
    random = Random(7)
    for _ in range(300):
        count = random.randint(8, READINGS_MAX)
        pace = 10 ** random.uniform(-4, -2.3)
        readings = [
            ProgressReading(5.0 * i, max(pace * 5 * (i + random.uniform(-0.2, 0.2)), 0.0)) for i in range(count)
        ]
        true_s = (1 - readings[-1].done) / pace
        place = random.randrange(count - 1)
        readings[place] = ProgressReading(readings[place].at_s, random.random())
        rest = remaining_s(readings, readings[-1].at_s)
        assert rest is not None
        assert rest.seconds == pytest.approx(true_s, rel=0.35)
        assert rest.low_s <= rest.seconds
        assert rest.high_s is None or rest.high_s >= rest.seconds


def test_tasks_that_are_added_count_for_earlier_readings_too() -> None:
    """A total that doubles does not make the pace look slower: tasks per second stay."""
    readings = [ProgressReading(5.0 * i, 10 * i, 200 if i < 6 else 400) for i in range(12)]
    rest = remaining_s(readings, 55.0)
    assert rest is not None
    assert rest.seconds == pytest.approx((400 - 110) / 2)


def test_files_are_refused_where_none_are_read() -> None:
    able = BackendCapabilities(why_no_progress_files="files of containers are not read here")
    by_file, by_port = (
        application(component(progress=probe)) for probe in (ProgressProbe(file="p"), ProgressProbe(port="http"))
    )
    (found,) = findings(by_file, Target(Platform(capabilities=able)))
    assert (found.code, found.certain, found.place) == (
        "no_progress_files",
        True,
        ("components", 0, "progress", "file"),
    )
    assert findings(by_port, Target(Platform(capabilities=able))) == []
    assert findings(by_file, Target(Platform())) == []
