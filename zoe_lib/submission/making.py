"""Make the run of a stored document: an execution, an array, or a workflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection

from zoe_client.vocabulary import RunKind
from zoe_client.wire import Diagnostic
from zoe_client.words.promises import with_promise_request
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.descriptions import DescriptionError
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.indices import IndicesError, parse_array
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.finish_times import CONFIDENCE, PromiseWish, budget_text
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.schedules.values import RunOptions
from zoe_lib.store.errors import BatchRefused, NotFound, QuotaExceeded, TimeLimitTooLong
from zoe_lib.store.people import Principal
from zoe_lib.store.quotas import check_owner, room_for
from zoe_lib.store.sql.batch import workflows as rows
from zoe_lib.store.values import ArraysBeside
from zoe_lib.store.workflow_values import NewStep, NewWorkflow
from zoe_lib.submission.budgets import budget_warnings
from zoe_lib.submission.checking import check_description
from zoe_lib.submission.closing import check_open
from zoe_lib.submission.deadlines import check_whole, deadline_of
from zoe_lib.submission.ids import new_array_id, new_execution_id, new_workflow_id
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.pricing import price_notes
from zoe_lib.submission.refusal import SubmissionRefused, from_description, from_limits
from zoe_lib.submission.workflows import (
    checked_applications,
    compile_checked,
    new_ids,
    new_step,
    parts_of,
    step_conditions,
    with_step_promises,
)
from zoe_lib.workflows import RunPlace
from zoe_lib.workflows.applications import filled_application, is_workflow
from zoe_lib.workflows.model import DEPENDENCIES_MAX

Beside = Callable[[Connection], None]


@value(frozen=True, slots=True)
class PreparedRun:
    """A run that may be stored. `executions`: none for an array, whose executions are made as the queue takes them.
    `mapped`: the arrays of a workflow.
    """

    kind: RunKind
    id: str
    notes: tuple[str, ...]
    executions: tuple[Execution, ...] = ()
    array: Array | None = None
    workflow: NewWorkflow | None = None
    steps: tuple[NewStep, ...] = ()
    mapped: tuple[Array, ...] = ()

    @property
    def applications_with_counts(self) -> list[tuple[Application, int]]:
        """Return its applications, each with the number of runs."""
        if self.array is not None:
            return [(self.array.application, self.array.indices.count)]
        return [(execution.application, 1) for execution in self.executions]


def prepare(
    document: Mapping[str, Any],
    parameters: Mapping[str, Any],
    options: RunOptions,
    place: SubmissionPlace,
    principal: Principal,
    conditions: Conditions = NO_CONDITIONS,
    from_s: float | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> PreparedRun:
    """Return the run of a document, checked like any submission; SubmissionRefused with all faults.

    The first steps of a workflow run under the conditions. from_s: start of deadlines, seconds since the epoch; None:
    now.
    """
    now_s = clock.now_s()
    since_s = now_s if from_s is None else from_s
    check_open(place.store.terms().policy, principal)
    warnings = tuple(budget_warnings(place, principal))
    if is_workflow(document):
        made = _workflow(document, parameters, options, place, principal, conditions, since_s, now_s)
    else:
        try:
            filled = filled_application(dict(document), parameters)
        except DescriptionError as error:
            raise from_description(error) from None
        if options.finish_by is not None:
            filled = with_promise_request(filled, options.confidence, options.budget)
        make = _execution if options.indices is None else _array
        made = make(filled, options, place, principal, conditions, since_s, now_s)
    return changed(made, notes=(*made.notes, *warnings, *price_notes(place, principal, made.applications_with_counts)))


def _execution(
    document: dict[str, Any],
    options: RunOptions,
    place: SubmissionPlace,
    principal: Principal,
    conditions: Conditions,
    since_s: float,
    now_s: float,
) -> PreparedRun:
    fit = check_description(document, place, principal, options.priority)
    deadline_s, warnings = _deadline_of(options, fit.application, since_s, conditions)
    execution = Execution(
        id=new_execution_id(),
        name=options.name or fit.application.name,
        tenant=principal.tenant,
        user=principal.user,
        application=fit.application,
        submitted_at_s=now_s,
        priority=fit.priority,
        deadline_s=deadline_s,
        notes=(*fit.notes, *warnings),
        conditions=conditions,
    )
    return PreparedRun(RunKind.EXECUTION, execution.id, execution.notes, (execution,))


def _array(
    document: dict[str, Any],
    options: RunOptions,
    place: SubmissionPlace,
    principal: Principal,
    conditions: Conditions,
    since_s: float,
    now_s: float,
) -> PreparedRun:
    try:
        indices, at_once = parse_array(options.indices or "", place.settings.array_indices_max)
    except IndicesError as error:
        wrong = Diagnostic(pointer="/indices", code="invalid", message=str(error))
        raise SubmissionRefused("invalid_request", str(error), errors=[wrong]) from None
    fit = check_description(document, place, principal, options.priority)
    limit = room_for(principal.tenant, principal.user, place.store.policy().limits, 0, 0)
    check_whole(fit.application, indices.count, limit)
    deadline_s, warnings = _deadline_of(options, fit.application, since_s, conditions)
    array = Array(
        id=new_array_id(),
        name=options.name or fit.application.name,
        tenant=principal.tenant,
        user=principal.user,
        application=fit.application,
        submitted_at_s=now_s,
        indices=indices,
        at_once=at_once,
        priority=fit.priority,
        deadline_s=deadline_s,
        conditions=conditions,
        notes=(*fit.notes, *warnings),
    )
    return PreparedRun(RunKind.ARRAY, array.id, array.notes, array=array)


def _deadline_of(
    options: RunOptions, application: Application, since_s: float, conditions: Conditions
) -> tuple[float | None, tuple[str, ...]]:
    text = options.finish_by or options.deadline
    return deadline_of(text, options.deadline_s, application, since_s, begin_at_s=conditions.begin_at_s)


def _workflow(
    document: Mapping[str, Any],
    parameters: Mapping[str, Any],
    options: RunOptions,
    place: SubmissionPlace,
    principal: Principal,
    conditions: Conditions,
    since_s: float,
    now_s: float,
) -> PreparedRun:
    for name in ("indices", "deadline", "deadline_s", "priority"):
        if getattr(options, name) is not None:
            why = f"{name} is for applications; the document of a workflow says it for its steps"
            raise SubmissionRefused("invalid_request", why)
    workflow_id = new_workflow_id()
    whole = compile_checked(
        dict(document), parameters, RunPlace(workflow_id, 1, place.settings.workflow_results_kept_s)
    )
    fits = checked_applications(whole.steps, place, principal)
    ids = new_ids(whole.steps)
    first = sum(not step.after for step in whole.steps)
    if first * len(conditions.after) > DEPENDENCIES_MAX:
        raise SubmissionRefused("invalid_request", f"its {first} first steps would run after too many others")
    under = [step_conditions(step, ids, since_s) for step in whole.steps]
    under = [
        entry if step.after else changed(conditions, end_by_s=entry.end_by_s)
        for entry, step in zip(under, whole.steps, strict=True)
    ]
    parts = parts_of(list(zip(ids, whole.steps, fits, under, strict=True)), principal, now_s)
    if options.finish_by is not None:
        wish = PromiseWish(options.confidence or CONFIDENCE, budget_text(options.budget))
        parts = with_step_promises(parts, workflow_id, wish, options.finish_by, since_s)
    name = options.name or whole.name
    new = NewWorkflow(workflow_id, name, principal.tenant, principal.user, document, whole.parameters, now_s)
    made = {execution.id: execution for execution in parts.executions}
    steps = tuple(new_step(i, whole, made.get(entry, entry)) for i, entry in enumerate(ids))
    notes = tuple(dict.fromkeys(note for fit in fits for note in fit.notes))
    return PreparedRun(RunKind.WORKFLOW, workflow_id, notes, parts.executions, None, new, steps, parts.arrays)


def store_run(
    run: PreparedRun,
    place: SubmissionPlace,
    cause_id: str,
    key: str | None = None,
    fingerprint: str = "",
    beside: Beside | None = None,
) -> str:
    """Store a run, once per key, with the rows of `beside`, in one transaction; return its id, or that of the key.

    SubmissionRefused if limits do not admit it; IdempotencyConflict.
    """
    store = place.store
    try:
        if run.array is not None:
            return store.submit_array(run.array, cause_id, key, fingerprint, None, beside).id
        arrays = ArraysBeside(run.mapped)
        executions = store.submit_all(
            run.executions, cause_id, key, fingerprint, _write_workflow_and(run, beside), arrays
        )
    except BatchRefused as refused:
        raise from_limits(refused.reason) from None
    except (QuotaExceeded, TimeLimitTooLong) as refused:
        raise from_limits(refused) from None
    check_owner(executions[0], run.executions[0].user)
    if executions[0].id == run.executions[0].id:
        return run.id
    return run_of(store.workflows.of_execution(executions[0].id), executions)


def _write_workflow_and(run: PreparedRun, beside: Beside | None) -> Beside:
    def write(connection: Connection) -> None:
        if run.workflow is not None:
            rows.add(connection, run.workflow, run.steps)
        if beside is not None:
            beside(connection)

    return write


def run_of(workflow_id: str | None, executions: Sequence[Execution]) -> str:
    """Return the id of a run: its workflow's, or its execution's."""
    return workflow_id or executions[0].id


def kind_of(run_id: str) -> RunKind:
    """Return the kind of a run, from the first letter of its id."""
    return {"a": RunKind.ARRAY, "w": RunKind.WORKFLOW}.get(run_id[:1], RunKind.EXECUTION)


def run_with_key(place: SubmissionPlace, principal: Principal, key: str | None, fingerprint: str) -> str | None:
    """Return the run that was stored earlier with this key; IdempotencyConflict if it was another request."""
    if key is None:
        return None
    store = place.store
    with suppress(NotFound):
        executions = store.submitted_all_with(principal.tenant, key, fingerprint, 1)
        if executions:
            check_owner(executions[0], principal.user)
            return run_of(store.workflows.of_execution(executions[0].id), executions)
    array = store.array_submitted_with(principal.tenant, key, fingerprint)
    if array is not None:
        check_owner(array, principal.user)
    return None if array is None else array.id
