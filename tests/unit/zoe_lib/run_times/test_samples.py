"""What executions teach: cores that they had on average, and only where nothing was lost on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.execution import Execution, ExecutionState, Mark, new_services
from zoe_lib.domain.resources import Resources
from zoe_lib.run_times.samples import sample_of, setting_of
from zoe_lib.run_times.values import RunSetting

WORK = application(
    component(name="driver", essential=1, total=1, reservation=Resources(500, 1)),
    component(name="worker", essential=1, total=4, reservation=Resources(2000, 1)),
)


def ended(**changes: object) -> Execution:
    services = []
    for one in new_services("x", WORK, 1):
        began_s = 20.0 if one.component == "driver" or one.index == 0 else 20.0 + 20.0 * one.index
        services.append(replace(one, ready_at_s=began_s, ended_at_s=120.0))
    marks = {Mark.PLACED: 10.0, Mark.READY: 20.0, Mark.ENDED: 120.0}
    given: dict[str, object] = {"state": ExecutionState.SUCCEEDED, "marks": marks, "services": tuple(services)}
    return replace(execution(), application=WORK, **(given | changes))  # type: ignore[arg-type]


def test_a_run_teaches_with_the_cores_that_it_had_on_average() -> None:
    sample = sample_of(ended())
    assert sample is not None
    # Workers for 100, 80, 60 and 40 of 100 seconds.
    assert sample.setting.cores == pytest.approx(2 * 2.8)
    assert (sample.start_s, sample.work_s) == (10.0, 100.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": ExecutionState.FAILED},
        {"state": ExecutionState.CANCELLED},
        {"attempt": 2},
        {"marks": {Mark.ENDED: 3.0}},
    ],
)
def test_what_went_wrong_teaches_nothing(changes: dict[str, object]) -> None:
    assert sample_of(ended(**changes)) is None


def test_a_clock_that_was_set_back_teaches_nothing() -> None:
    marks = {Mark.PLACED: 100.0, Mark.READY: 120.0, Mark.ENDED: 50.0}
    assert sample_of(ended(marks=marks)) is None


def test_elastic_services_count_in_the_order_in_which_they_start() -> None:
    assert setting_of(WORK) == RunSetting(8.0)
    assert [setting_of(WORK, number).cores for number in (0, 1, 3, 9)] == [2.0, 4.0, 8.0, 8.0]
    assert setting_of(application(component(reservation=Resources(1500, 1)))).cores == 1.5


def test_the_end_of_the_program_counts_not_when_it_was_noted() -> None:
    late = sample_of(ended(marks={Mark.PLACED: 10.0, Mark.READY: 20.0, Mark.ENDED: 900.0}))
    assert late is not None
    assert late.work_s == 100.0
