"""Make the executions of a workflow: compile it, check its steps, and set their conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import DIAGNOSTICS_MAX
from zoe_client.documents.diagnostics import Diagnostic as Finding
from zoe_client.vocabulary import DependencyKind
from zoe_lib.descriptions import DescriptionError
from zoe_lib.domain.applications.entries import EntryList
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.indices import first_indices
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.finish_times import MEMBERS_MAX, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.people import Principal
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.store.workflow_values import NewStep
from zoe_lib.submission.checking import Checked, check_description
from zoe_lib.submission.deadlines import check_no_promise, deadline_of, given_deadline
from zoe_lib.submission.ids import new_array_id, new_execution_id
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused, diagnostics_of, from_description
from zoe_lib.workflows import CompiledStep, CompiledWorkflow, RunPlace, compile_workflow
from zoe_lib.workflows.values import EachEntry

_AS_A_WHOLE = (
    "the workflow is promised as a whole: `zoe workflow run FILE --finish-by TIME`, or `finish_by` of the request"
)


def compile_checked(document: object, parameters: Mapping[str, object], place: RunPlace) -> CompiledWorkflow:
    """Compile a workflow; SubmissionRefused with all faults."""
    try:
        return compile_workflow(document, parameters, place)
    except DescriptionError as error:
        raise from_description(error) from None


def checked_applications(
    steps: Sequence[CompiledStep], place: SubmissionPlace, principal: Principal, versions: TermsVersions | None = None
) -> list[Checked]:
    """Return the checked application of each step; SubmissionRefused with the findings, each with its place in the
    document.

    It stops after the first hundred findings: steps of a matrix have the same ones.
    """
    fits: list[Checked] = []
    found: list[Finding] = []
    first: SubmissionRefused | None = None
    for step in steps:
        each = None if step.each is None else step.each.name
        try:
            fits.append(check_description(step.application, place, principal, versions=versions, each=each))
        except SubmissionRefused as refusal:
            first = first or refusal
            found += _in_workflow_document(step, refusal)
            if len(found) >= DIAGNOSTICS_MAX:
                break
    if first is not None:
        detail = f"none of its steps was submitted: {first.detail}"
        raise SubmissionRefused(first.code, detail, first.hint, diagnostics_of(dict.fromkeys(found)))
    return fits


def _in_workflow_document(step: CompiledStep, why: SubmissionRefused) -> list[Finding]:
    errors = [Finding(error.pointer, error.code, error.message, error.hint) for error in why.errors]
    return [
        step.in_workflow_document(error)
        for error in errors or [Finding("", why.code, why.detail or why.code, why.hint)]
    ]


def execution_of(
    execution_id: str, step: CompiledStep, fit: Checked, conditions: Conditions, principal: Principal, now_s: float
) -> Execution:
    """Return the execution of a step. Its description may have an earlier deadline; SubmissionRefused if that has
    passed.
    """
    place = f"/steps/{step.origin}/application/deadline"
    check_no_promise(fit.application, "a step of a workflow", f"/steps/{step.origin}/application/promise", _AS_A_WHOLE)
    own_s, warnings = deadline_of(None, None, fit.application, now_s, place)
    return Execution(
        id=execution_id,
        name=step.name,
        tenant=principal.tenant,
        user=principal.user,
        application=fit.application,
        submitted_at_s=now_s,
        priority=fit.priority,
        deadline_s=min((entry for entry in (conditions.end_by_s, own_s) if entry is not None), default=None),
        notes=(*fit.notes, *warnings),
        conditions=conditions,
    )


@dataclass(frozen=True, slots=True)
class WorkflowParts:
    """The parts of a workflow to store: executions, and arrays for steps with `for_each`."""

    executions: tuple[Execution, ...]
    arrays: tuple[Array, ...] = ()


def new_ids(steps: Sequence[CompiledStep]) -> list[str]:
    """Return a new id for each step: of an execution, or of an array."""
    return [new_execution_id() if step.each is None else new_array_id() for step in steps]


def parts_of(
    steps: Sequence[tuple[str, CompiledStep, Checked, Conditions]], principal: Principal, now_s: float
) -> WorkflowParts:
    """Return the executions and arrays of steps, each with its id and conditions; SubmissionRefused."""
    executions: list[Execution] = []
    arrays: list[Array] = []
    for run_id, step, fit, conditions in steps:
        made = execution_of(run_id, step, fit, conditions, principal, now_s)
        if step.each is None:
            executions.append(made)
        else:
            arrays.append(_array_of(made, step.each))
    return WorkflowParts(tuple(executions), tuple(arrays))


def _array_of(made: Execution, each: EachEntry) -> Array:
    """Return the array that runs an execution's application for each entry of a list."""
    return Array(
        id=made.id,
        name=made.name,
        tenant=made.tenant,
        user=made.user,
        application=made.application,
        submitted_at_s=made.submitted_at_s,
        indices=first_indices(1),
        at_once=each.at_once,
        priority=made.priority,
        deadline_s=made.deadline_s,
        conditions=made.conditions,
        notes=made.notes,
        entries=EntryList(each.name, each.path),
    )


def unknown_price_notes(whole: CompiledWorkflow, price: Sequence[str]) -> list[str]:
    """Return a note with the steps that a price leaves out, since their number of runs is unknown."""
    names = [step.name for step in whole.steps if step.each is not None]
    if not names or not price:
        return []
    return [f"the price is without {', '.join(names[:6])}: how many entries run is not known yet"]


def step_conditions(
    step: CompiledStep, ids: Sequence[str], now_s: float, kept: set[str] | frozenset[str] = frozenset()
) -> Conditions:
    """Return the conditions of a step. A dependency that succeeded in an earlier run is met: its execution may have
    been removed by the time of the check. SubmissionRefused if a deadline has passed.
    """
    after = [
        Dependency(need.kind, ids[need.position])
        for need in step.after
        if ids[need.position] not in kept or need.kind is DependencyKind.FAIL
    ]
    ends_s = [] if step.deadline_s is None else [now_s + step.deadline_s]
    for text in step.deadlines:
        given = given_deadline(text, None, now_s, f"/steps/{step.origin}/deadline")
        ends_s += [] if given is None else [given.at_s]
    end_by_s = min(ends_s, default=None)
    return Conditions(after=tuple(after), any_of=step.on_failure, end_by_s=end_by_s)


def with_step_promises(
    parts: WorkflowParts, workflow_id: str, wish: PromiseWish, finish_by: str, now_s: float
) -> WorkflowParts:
    """Return the executions with a request for a joint promise, except for those that run after a failure.
    SubmissionRefused if the time has passed, there are too many, or their number is unknown.
    """
    executions = parts.executions
    finish = given_deadline(finish_by, None, now_s, "/finish_by")
    members = [execution for execution in executions if not _after_failure(execution)]
    why, hint = "", ""
    if parts.arrays:
        why = f"step {parts.arrays[0].name} has `for_each`: how often it runs is not known before its list is made"
        hint = "use a `matrix` where the values are known; or run it without a promise, with a `deadline`"
    elif finish is None or finish.at_s <= now_s:
        why = "the time has passed"
    elif len(members) > MEMBERS_MAX:
        why = f"at most {MEMBERS_MAX} executions are promised as a whole; it has {len(members)}"
    if finish is None or why:
        wrong = diagnostics_of([Finding("/finish_by", "invalid", why, hint)])
        raise SubmissionRefused("invalid_request", why, hint, errors=wrong)
    whole = workflow_id if len(members) > 1 else ""
    asking = {
        member.id: changed(
            member,
            application=changed(member.application, promise=wish),
            deadline_s=min(finish.at_s, member.deadline_s or finish.at_s),
            conditions=changed(member.conditions, whole=whole, members=len(members)),
            notes=tuple(dict.fromkeys([*member.notes, *([finish.note] if finish.note else [])])),
        )
        for member in members
    }
    return WorkflowParts(tuple(asking.get(execution.id, execution) for execution in executions))


def _after_failure(execution: Execution) -> bool:
    conditions = execution.conditions
    return conditions.any_of or any(entry.kind is DependencyKind.FAIL for entry in conditions.after)


def new_step(position: int, whole: CompiledWorkflow, execution: Execution | str) -> NewStep:
    """Return the stored row of a step, for its execution, or the id of one."""
    step = whole.steps[position]
    facts: dict[str, Any] = {
        "step": step.step,
        "values": dict(step.values),
        "after": [f"{need.kind.value}:{whole.steps[need.position].name}" for need in step.after],
        "on_failure": step.on_failure,
        "results": dict(step.paths),
    }
    if step.each is not None:
        facts["for_each"] = {step.each.name: step.each.source}
    if isinstance(execution, Execution) and execution.application.promise is not None:
        facts["promised"] = True
    execution_id = execution.id if isinstance(execution, Execution) else execution
    return NewStep(execution_id, position, step.name, facts)
