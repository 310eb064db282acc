"""Ended runs tell how long the next one takes, as far as they are like it."""

from __future__ import annotations

import math

import pytest

from zoe_lib.run_times.nearest import RunTimesByProgram, typical_s
from zoe_lib.run_times.samples import RunKey


def key(program: str = "a:1", user: str = "u", cores: int = 0, request: int = 0, tenant: str = "t") -> RunKey:
    return tenant, user, program, cores, request


def learned(*runs: tuple[RunKey, float]) -> RunTimesByProgram:
    found = RunTimesByProgram()
    for kind, ran_s in runs:
        found.learn(kind, ran_s)
    return found


def test_the_nearest_five_by_cores_and_request_tell_the_run_time() -> None:
    small = [(key(cores=2, request=10), 10.0)] * 5
    large = [(key(cores=8, request=20), 90.0)] * 5
    runs = learned(*small, *large)
    assert runs.expected_s(key(cores=2, request=11)) == 10.0
    assert runs.expected_s(key(cores=8, request=18)) == 90.0


def test_of_equally_near_runs_the_last_ones_count_and_at_most_200_are_kept() -> None:
    runs = learned(*[(key(), float(number)) for number in range(300)])
    assert runs.expected_s(key()) == 297.0
    runs = learned((key(cores=9), 5.0), *[(key(), 80.0)] * 200)
    assert runs.expected_s(key(cores=9)) == 80.0


def test_own_runs_come_first_and_another_tenant_teaches_nothing() -> None:
    runs = learned((key(user="v"), 50.0))
    assert runs.expected_s(key()) == 50.0
    assert not runs.knows_user(key())
    runs.learn(key(), 10.0)
    assert runs.expected_s(key()) == 10.0
    assert runs.knows_user(key())
    assert runs.expected_s(key(tenant="other")) is None
    assert runs.expected_s(key("b:1")) is None


def test_forty_times_the_work_under_one_name_is_not_expected_to_take_as_long_as_the_small_one() -> None:
    runs = learned(*[(key("work:1"), 10.0)] * 20)
    assert runs.expected_s(key("work:5")) is None, "it was never seen"
    runs.learn(key("work:5"), 400.0)
    assert runs.expected_s(key("work:5")) == 400.0
    assert runs.expected_s(key("work:1")) == 10.0
    assert runs.expected_s(key("work:3")) is None, "numbers matter, and this one was never seen"


def test_numbers_that_do_not_matter_are_ignored() -> None:
    runs = learned((key("array:0"), 10.0), (key("array:1"), 12.0))
    assert runs.expected_s(key("array:9")) == 11.0
    runs.learn(key("array:5"), 100.0)
    assert runs.expected_s(key("array:9")) is None


@pytest.mark.parametrize("ran_s", [math.nan, math.inf, -1.0])
def test_run_time_that_is_no_number_teaches_nothing(ran_s: float) -> None:
    assert learned((key(), ran_s)).expected_s(key()) is None


def test_one_odd_run_counts_as_three_times_the_median() -> None:
    assert typical_s([10.0, 10.0, 10.0, 10.0, 4000.0]) == 14.0
    assert typical_s([10.0, 30.0]) == 20.0
