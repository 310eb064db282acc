"""Views of schedules: their next times, and results of runs."""

from __future__ import annotations

from typing import Any

from tests.support.applications import application, execution
from tests.support.plain_api import USER, services
from zoe_api.schedules import views as schedule_views
from zoe_client.vocabulary import ExecutionState, IndexState, RunKind, ScheduleOutcome
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.errors import NotFound

OPTIONS = {"name": "run", "priority": 4, "ahead_s": 60.0, "confidence": 0.9}
ARRAY = "a0123456789abcd"


def schedule(**changes: Any) -> Schedule:
    given = {
        "id": "s1",
        "tenant": "iostack",
        "user": USER,
        "name": "mine",
        "expression": "0 * * * *",
        "zone": "UTC",
        "application": "nightly",
        "version": 2,
        "document": None,
        "parameters": {"a": 1},
        "options": OPTIONS,
        "missed": "skip",
        "overlap": "allow",
        "jitter_s": 5.0,
        "end_at_s": None,
        "held": True,
        "held_by_operator": True,
        "due_s": 3600.0,
        "next_at_s": 3540.0,
        "planned_at_s": 1.0,
        "count": 3,
        "made_at_s": 7.0,
    }
    return Schedule(**{**given, **changes})


def test_a_schedule_is_shown_with_the_time_at_which_it_begins() -> None:
    told = schedule_views.schedule_view(schedule(), None, ["note"])
    assert (told.name, told.tenant, told.user, told.expression, told.zone) == (
        "mine",
        "iostack",
        USER,
        "0 * * * *",
        "UTC",
    )
    assert (told.application, told.version, told.missed, told.overlap, told.jitter_s) == (
        "nightly",
        2,
        "skip",
        "allow",
        5.0,
    )
    assert (told.held, told.held_by_operator, told.due_s, told.next_at_s, told.made_at_s) == (
        True,
        True,
        3600.0,
        3600.0,
        7.0,
    )
    assert (told.run_name, told.priority, told.ahead_s, told.confidence) == ("run", 4, 60.0, 0.9)
    assert (told.parameters, told.notes, told.last, told.deadline) == ({"a": 1}, ["note"], None, None)
    assert schedule_views.schedule_view(schedule(next_at_s=None), None).next_at_s is None


def test_the_next_five_times_are_told() -> None:
    hours = [3600.0 * n for n in range(1, 6)]
    assert schedule_views.next_times(schedule()) == hours
    assert schedule_views.next_times(schedule(end_at_s=7200.0)) == hours[:2]
    assert schedule_views.next_times(schedule(due_s=None)) == []


def ran(kind: RunKind | None, run_id: str | None, **more: Any) -> ScheduleRun:
    return ScheduleRun("s1", 5.0, 6.0, ScheduleOutcome.MADE, kind, run_id, **more)


def test_runs_have_the_states_of_what_is_kept() -> None:
    there = services(execution(1))
    array = Array(ARRAY, "many", "iostack", USER, application(), 1.0, parse_array("0-1", 9)[0])
    there.store.submit_array(array, "cause")

    class Workflows:
        def workflow(self, *_: Any) -> Any:
            raise NotFound("gone")

    there.store.workflows = Workflows()
    told = schedule_views.run_views(
        [
            ran(RunKind.EXECUTION, "execution-0001", code="c", message="m", number=2),
            ran(RunKind.ARRAY, ARRAY),
            ran(RunKind.WORKFLOW, "w1"),
            ran(RunKind.EXECUTION, "gone"),
            ran(None, None),
        ],
        there,
    )
    assert [run.state for run in told] == ["submitted", "submitted", None, None, None]
    assert (told[0].due_s, told[0].at_s, told[0].run_id, told[0].number) == (5.0, 6.0, "execution-0001", 2)
    assert (told[0].code, told[0].message, told[0].kind, told[0].outcome) == ("c", "m", "execution", "made")
    assert schedule_views.run_views([], there) == []


def test_an_array_is_running_once_one_of_its_indices_is() -> None:
    counts = {IndexState.ACTIVE: 1, IndexState.WAITING: 1}
    array = Array(ARRAY, "many", "iostack", USER, application(), 1.0, parse_array("0-1", 9)[0], counts=counts)
    there = services(execution(1))
    there.store.array = lambda _: array
    there.store.active_of_arrays = lambda ids: {one: {ExecutionState.RUNNING: 1} for one in ids}
    [told] = schedule_views.run_views([ran(RunKind.ARRAY, ARRAY)], there)
    assert told.state == "running"
