"""Views of schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zoe_api.services.dependencies import Services
from zoe_api.workflows.views import workflow_summary
from zoe_client.vocabulary import RunKind
from zoe_client.wire import ScheduleRunView, ScheduleView
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.domain.executions.arrays import state_of
from zoe_lib.schedules.turns import first_after
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.errors import NotFound
from zoe_lib.store.values import ExecutionQuery

_NEXT = 5


def schedule_view(schedule: Schedule, last: ScheduleRunView | None, notes: Sequence[str] = ()) -> ScheduleView:
    """Return a schedule as a row of a list."""
    return ScheduleView(**facts(schedule), last=last, notes=list(notes))


def facts(schedule: Schedule) -> dict[str, Any]:
    """Return the fields of a view that need no other data."""
    options = schedule.run_options
    same = ("name", "tenant", "user", "expression", "zone", "application", "version", "missed", "overlap", "jitter_s")
    times = ("end_at_s", "held", "held_by_operator", "due_s", "made_at_s", "ahead_s")
    wished = ("deadline_s", "deadline", "finish_by", "confidence", "budget", "indices", "priority")
    return {
        **{name: getattr(schedule, name) for name in (*same, *times)},
        **{name: getattr(options, name) for name in wished},
        "next_at_s": None if schedule.next_at_s is None else schedule.next_at_s + schedule.ahead_s,
        "parameters": dict(schedule.parameters),
        "run_name": options.name,
    }


def next_times(schedule: Schedule) -> list[float]:
    """Return the next times, a few at most."""
    found: list[float] = []
    at_s = schedule.due_s
    while at_s is not None and len(found) < _NEXT:
        found.append(at_s)
        at_s = first_after(schedule, at_s)
    return found


def run_views(runs: Sequence[ScheduleRun], services: Services) -> list[ScheduleRunView]:
    """Return the results of times, with the states of runs that still exist."""
    states = _states(runs, services)
    return [
        ScheduleRunView(
            due_s=run.due_s,
            at_s=run.at_s,
            outcome=run.outcome,
            kind=run.kind,
            run_id=run.run_id,
            code=run.code,
            message=run.message,
            number=run.number,
            state=states.get(run.run_id or ""),
        )
        for run in runs
    ]


def _states(runs: Sequence[ScheduleRun], services: Services) -> Mapping[str, str]:
    """Return the states by id; arrays and workflows one by one, since a list has at most one per schedule."""
    found: dict[str, str] = {}
    ids = frozenset(run.run_id for run in runs if run.kind is RunKind.EXECUTION and run.run_id)
    if ids:
        page = services.store.executions(ExecutionQuery(ids=ids, limit=len(ids)))
        found |= {execution.id: execution.state.value for execution in page.executions}
    for run in runs:
        try:
            if run.kind is RunKind.ARRAY and run.run_id:
                found[run.run_id] = _array_state(run.run_id, services)
            elif run.kind is RunKind.WORKFLOW and run.run_id:
                found[run.run_id] = workflow_summary(services.store.workflows.workflow(run.run_id, ALL)).state.value
        except NotFound:
            continue
    return found


def _array_state(array_id: str, services: Services) -> str:
    """Return the state of an array as its page shows it."""
    array = services.store.array(array_id)
    active = services.store.active_of_arrays([array_id]) if array.open_count else {}
    return state_of(array.counts, active.get(array_id, {})).value
