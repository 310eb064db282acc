"""Resume a workflow: submit unsuccessful steps again, and continue lists with their unsuccessful entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection

from zoe_api.executions.submissions.budgets import check_budget
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller, Services
from zoe_api.workflows.checking import place_of
from zoe_api.workflows.runs import (
    RequestKey,
    fingerprint_of,
    known_run,
    stored_parts,
)
from zoe_api.workflows.views import has_ended, step_state
from zoe_client.wire import StepState
from zoe_lib.domain.executions import arrays as domain
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.sql.batch import workflows as rows
from zoe_lib.store.sql.batch.arrays_beside import keep_key
from zoe_lib.store.values import ArrayChange, ArraysBeside
from zoe_lib.store.workflow_values import StoredStep, StoredWorkflow
from zoe_lib.submission.ids import new_array_id, new_execution_id
from zoe_lib.submission.workflows import checked_applications, compile_checked, new_step, parts_of, step_conditions
from zoe_lib.workflows import CompiledStep, CompiledWorkflow

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RemainingSteps:
    """The rest of a workflow to run, by names of steps.

    again: steps to submit again. goes_on: steps with `for_each` that run for the unsuccessful entries of their list.
    Executions and results of all other steps are reused.
    """

    again: frozenset[str]
    goes_on: frozenset[str]


def remaining_steps(workflow: StoredWorkflow, plain: CompiledWorkflow) -> RemainingSteps:
    """Return the rest: unsuccessful steps, their dependents, and steps whose list cannot be used."""
    stored = {step.name: step for step in workflow.steps}
    done = {name for name, step in stored.items() if step_state(step) is StepState.SUCCEEDED}
    for step in plain.steps:
        found = stored.get(step.name)
        if step.each is not None and found is not None and found.entries is not None and found.entries.problem:
            done.discard(step.each.source.partition(".")[0])
    again: set[str] = set()
    goes_on: set[str] = set()
    for step in plain.steps:  # each comes after its dependencies
        after = {plain.steps[need.position].name for need in step.after}
        if step.name in done and not after & (again | goes_on):
            continue
        goes = not after & (again | goes_on) and _has_list(stored.get(step.name))
        (goes_on if goes else again).add(step.name)
    return RemainingSteps(frozenset(again), frozenset(goes_on))


def _has_list(step: StoredStep | None) -> bool:
    return step is not None and step.entries is not None and step.entries.count is not None


def resume(workflow: StoredWorkflow, caller: Caller, key: str | None) -> str:
    """Submit unsuccessful steps and their dependents again; return the id of the workflow.

    409 if it has not ended, if all steps have succeeded, or if results that it needs are gone.
    """
    fingerprint = fingerprint_of("resume", workflow.id)
    if (known := known_run(caller, key, fingerprint)) is not None:
        return known
    if not has_ended(workflow):
        raise ApiProblem(Code.ILLEGAL_STATE, "it has not ended", f"zoe workflow cancel {workflow.id}")
    if all(step_state(step) in (StepState.SUCCEEDED, StepState.NOT_NEEDED) for step in workflow.steps):
        raise ApiProblem(Code.ILLEGAL_STATE, "every step has succeeded: there is nothing to resume")
    check_budget(caller)
    document, parameters = dict(workflow.document), dict(workflow.parameters)
    run = workflow.run + 1
    plain = compile_checked(document, parameters, place_of(caller.services, workflow.id, run))
    rest = remaining_steps(workflow, plain)
    before = {step.name: step for step in workflow.steps if step.name not in rest.again}
    _check_results_exist(workflow, plain, rest, caller.services)
    whole = compile_checked(
        document,
        parameters,
        place_of(caller.services, workflow.id, run, {name: step.run for name, step in before.items()}),
    )
    ids = [before[step.name].execution_id if step.name in before else _new_id(step) for step in whole.steps]
    left = [(i, step) for i, step in enumerate(whole.steps) if step.name in rest.again]
    fits = checked_applications(
        [step for _, step in left], caller.services, caller.principal, caller.request.state.terms
    )
    now_s = caller.services.clock.now_s()
    kept = {step.execution_id for step in before.values() if step.name not in rest.goes_on}
    under = {step.name: step_conditions(step, ids, now_s, kept) for step in whole.steps}
    parts = parts_of(
        [(ids[i], step, fit, under[step.name]) for (i, step), fit in zip(left, fits, strict=True)],
        caller.principal,
        now_s,
    )
    changes = {before[name].execution_id: _entries_again(under[name], caller.user) for name in sorted(rest.goes_on)}
    steps = [new_step(i, whole, ids[i]) for i, _ in left]

    def write(connection: Connection) -> None:
        rows.add_run(connection, workflow.id, run, steps)
        if not parts.executions and key is not None:
            first = next(iter(changes), None) or parts.arrays[0].id
            keep_key(connection, caller.tenant, key, fingerprint, first, now_s)

    by, arrays = RequestKey(key, fingerprint), ArraysBeside(parts.arrays, changes, now_s)
    stored_parts(caller, parts.executions, by, write, arrays)
    log.info("resumed a workflow", workflow=workflow.id, run=run, steps=len(left), user=caller.user)
    return workflow.id


def _new_id(step: CompiledStep) -> str:
    return new_execution_id() if step.each is None else new_array_id()


def _entries_again(conditions: Conditions, user: str) -> Callable[[Array, bytearray], ArrayChange | None]:
    """Return a list state in which unsuccessful entries run again, until the new deadline."""

    def decide(array: Array, states: bytearray) -> ArrayChange | None:
        if array.run >= domain.RUNS_MAX:
            raise ApiProblem(
                Code.ILLEGAL_STATE,
                f"{array.name} has run {array.run} times, which is the maximum; run the workflow anew",
            )
        after = domain.again(array, states)
        if after is array:
            return None
        held = changed(after.conditions, after=(), begin_at_s=None, end_by_s=conditions.end_by_s)
        after = changed(after, conditions=held, deadline_s=conditions.end_by_s, late_count=None)
        return ArrayChange(after, ArrayEventKind.AGAIN, {"user": user})

    return decide


def _check_results_exist(
    workflow: StoredWorkflow, plain: CompiledWorkflow, rest: RemainingSteps, services: Services
) -> None:
    if len(workflow.steps) != len(plain.steps):
        raise ApiProblem(Code.ILLEGAL_STATE, "some of its executions were removed since", "run it anew")
    needed = any(step.paths for step in plain.steps if step.name not in rest.again)
    last_s = max((step.ended_at_s or 0.0 for step in workflow.steps), default=0.0)
    if needed and last_s + services.settings.workflow_results_kept_s < services.clock.now_s():
        raise ApiProblem(Code.ILLEGAL_STATE, "its results no longer exist", "run it anew")
