"""Due times: missed times, clocks that jump, jitter, and an end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zoe_lib.domain.values.frozen import changed
from zoe_lib.schedules.turns import COUNTED_MAX, MADE_UP_MAX, ScheduleTurn, turn_of
from zoe_lib.schedules.values import Schedule

HOUR = 3600.0
FIRST = 1_800_000_000.0 // HOUR * HOUR
HOURLY = Schedule(
    id="s1", tenant="acme", user="ada", name="hourly", expression="0 * * * *", zone="UTC", application=None,
    version=None, document={}, parameters={}, options={}, missed="latest", overlap="skip", jitter_s=0.0, end_at_s=None,
    held=False, held_by_operator=False, due_s=FIRST, next_at_s=FIRST, planned_at_s=FIRST - HOUR, count=1, made_at_s=0.0,
)  # fmt: skip
assert replace(HOURLY).times.expression


@pytest.mark.parametrize("missed", ["skip", "latest", "all"])
def test_a_time_runs_when_it_comes(missed: str) -> None:
    schedule = changed(HOURLY, missed=missed)
    assert turn_of(schedule, FIRST - 1) == ScheduleTurn(None, 0, None, FIRST)
    assert turn_of(schedule, FIRST) == ScheduleTurn(FIRST, 0, None, FIRST + HOUR)
    assert turn_of(schedule, FIRST + 299) == ScheduleTurn(FIRST, 0, None, FIRST + HOUR)


def test_missed_times() -> None:
    late = FIRST + 3 * HOUR + 600
    assert turn_of(changed(HOURLY, missed="latest"), late) == ScheduleTurn(
        FIRST + 3 * HOUR, 3, FIRST + 2 * HOUR, FIRST + 4 * HOUR
    )
    assert turn_of(changed(HOURLY, missed="skip"), late) == ScheduleTurn(None, 4, FIRST + 3 * HOUR, FIRST + 4 * HOUR)
    just = FIRST + 3 * HOUR + 60
    assert turn_of(changed(HOURLY, missed="skip"), just).run_s == FIRST + 3 * HOUR
    # One after the other.
    assert turn_of(changed(HOURLY, missed="all"), late) == ScheduleTurn(FIRST, 0, None, FIRST + HOUR)


def test_all_is_bounded() -> None:
    late = FIRST + 5000 * HOUR
    turn = turn_of(changed(HOURLY, missed="all"), late)
    assert turn.run_s == late - (MADE_UP_MAX - 1) * HOUR
    assert turn.missed == COUNTED_MAX - MADE_UP_MAX
    years = turn_of(changed(HOURLY, missed="all", expression="* * * * *"), FIRST + 40 * 365 * 86400)
    assert years.missed == COUNTED_MAX - MADE_UP_MAX


def test_an_end() -> None:
    schedule = changed(HOURLY, end_at_s=FIRST + HOUR)
    assert turn_of(schedule, FIRST).next_s == FIRST + HOUR
    assert turn_of(changed(schedule, due_s=FIRST + HOUR), FIRST + 9 * HOUR) == ScheduleTurn(FIRST + HOUR, 0, None, None)
    assert turn_of(changed(schedule, due_s=None), FIRST + 9 * HOUR) == ScheduleTurn(None, 0, None, None)


def test_a_clock_that_was_ahead_for_years_is_forgotten() -> None:
    ahead = FIRST + 10 * 365 * 86400
    lost = changed(HOURLY, due_s=ahead + HOUR, planned_at_s=ahead)
    assert turn_of(lost, FIRST + 1).next_s == FIRST + HOUR
    # What went back by an hour repeats nothing: the time that comes next stays.
    hour = changed(HOURLY, due_s=FIRST + HOUR, planned_at_s=FIRST)
    assert turn_of(hour, FIRST - HOUR).next_s == FIRST + HOUR


def test_jitter_is_within_its_bound_and_differs_by_schedule_and_time() -> None:
    schedule = changed(HOURLY, jitter_s=600.0)
    moments = {changed(schedule, id=f"s{n}").made_s(FIRST + t * HOUR) or 0.0 for n in range(9) for t in range(9)}
    assert len({moment % HOUR for moment in moments}) == 81
    assert all(0 <= moment % HOUR < 600 for moment in moments)
    # Its own time is made, not a later one, whenever it is looked at.
    assert turn_of(schedule, FIRST + 599).run_s == FIRST


AHEAD = changed(HOURLY, options={"ahead_s": 6 * HOUR})


@pytest.mark.parametrize("missed", ["skip", "latest", "all"])
def test_submissions_ahead_run_in_turn_and_none_is_missed(missed: str) -> None:
    """A schedule that is added has six times within its six hours: none of them was missed."""
    schedule, made = changed(AHEAD, missed=missed), []
    for _ in range(8):
        turn = turn_of(schedule, FIRST - HOUR)
        assert turn.missed == 0
        if turn.run_s is None:
            break
        made.append(turn.run_s)
        schedule = changed(schedule, due_s=turn.next_s)
    assert made == [FIRST + n * HOUR for n in range(6)]
    assert turn_of(schedule, FIRST - 1).run_s is None
    assert turn_of(schedule, FIRST).run_s == FIRST + 6 * HOUR


def test_a_master_that_comes_late_runs_ahead_what_is_still_to_come() -> None:
    """Two hours after the first time: the first two were missed, the third is found in time."""
    late = FIRST + 2 * HOUR
    latest = turn_of(AHEAD, late)
    assert (latest.run_s, latest.missed, latest.missed_s) == (FIRST + 2 * HOUR, 2, FIRST + HOUR)
    assert turn_of(changed(AHEAD, missed="skip"), late).run_s == FIRST + 2 * HOUR
    assert turn_of(changed(AHEAD, missed="all"), late).run_s == FIRST


def test_submission_ahead_is_made_that_long_before_its_begin() -> None:
    schedule = changed(AHEAD, jitter_s=600.0)
    assert FIRST <= schedule.begins_s(FIRST) < FIRST + 600.0
    assert schedule.made_s(FIRST) == schedule.begins_s(FIRST) - 6 * HOUR
    assert schedule.made_s(None) is None


def test_submissions_ahead_end_with_their_schedule() -> None:
    schedule = changed(AHEAD, end_at_s=FIRST + 2 * HOUR)
    assert turn_of(changed(schedule, due_s=FIRST + 2 * HOUR), FIRST).next_s is None
