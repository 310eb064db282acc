"""Derive the observation of a service from the managers' report on its task, where its engine does not say more."""

from __future__ import annotations

from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import Observation, ObservedState
from zoe_master.backends.engine.errors import NOTHING, error_text
from zoe_master.backends.engine.services.observation import (
    TERMINATED,
    derive_observation,
    identity,
    never_ran,
    why_never,
)
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.swarm.facts import TaskFacts
from zoe_master.backends.swarm.services.task_records import TaskRecord


def observe_task(record: TaskRecord) -> Observation:
    """Return the present state.

    The task may end before its container's engine reports it: the engine knows how the container ended.
    """
    task = record.task
    unbegun = record.container is None and task is not None and task.has_ended and not task.container_id
    if record.mark.end is None and task is not None and unbegun:
        return task_over(record, task)
    return derive_observation(record)


def by_task(record: Record, task: TaskFacts, why: str = "its engine does not answer") -> Observation:
    """Return the end from the managers' report, if its engine does not answer: out of memory then looks like any
    kill.
    """
    if task.state == "rejected" or task.exit_code is None or not task.container_id:
        return task_over(record, task)
    untold = error_text(why, task.message)
    # An engine that stops or restarts ends its containers with SIGTERM; few programs end that way by themselves.
    ended = Cause.KILLED if task.exit_code == TERMINATED else Cause.EXITED
    return Observation(
        **identity(record),
        state=ObservedState.ENDED,
        at_s=task.at_s,
        exit_code=task.exit_code,
        cause=record.mark.stop_cause or ended,
        started_at_s=record.container.started_at_s if record.container else task.at_s,
        **(NOTHING if task.exit_code == 0 else untold)._asdict(),  # a success needs no details
    )


def task_over(record: Record, task: TaskFacts) -> Observation:
    """Return the end of a task that never began, from the managers' report."""
    if record.mark.stop_cause is not None:
        return never_ran(record, task.at_s, record.mark.stop_cause)
    return never_ran(
        record, task.at_s, why_never(task.message), error_text(f"it could not start on {record.node}", task.message)
    )
