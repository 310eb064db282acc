"""Check workflows and make their executions: functions of values, which run in another process for long workflows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoe_api.workflows.views import workflow_plan
from zoe_client.documents.reading import objects
from zoe_client.wire import WorkflowRequest
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.finish_times import CONFIDENCE, PromiseWish, budget_text
from zoe_lib.store.people import Principal
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission.checking import Checked
from zoe_lib.submission.place import SubmissionPlace
from zoe_lib.submission.refusal import SubmissionRefused
from zoe_lib.submission.workflows import (
    WorkflowParts,
    checked_applications,
    compile_checked,
    new_ids,
    parts_of,
    step_conditions,
    with_step_promises,
)
from zoe_lib.workflows import CompiledWorkflow, RunPlace
from zoe_lib.workflows.matrices import size_of

SHORT_RUNS_MAX = 20
"""Maximum executions of a workflow that is checked without another process: some 20 milliseconds."""


def is_short(document: dict[str, Any]) -> bool:
    """Return whether a workflow has few executions."""
    sizes: Iterator[int] = (size_of(step) for _, step in objects(document, "steps"))
    return sum(sizes) <= SHORT_RUNS_MAX


def place_of(place: SubmissionPlace, workflow_id: str, run: int = 1, kept: Mapping[str, int] | None = None) -> RunPlace:
    """Return the directory for the results of a run."""
    return RunPlace(workflow_id, run, place.settings.workflow_results_kept_s, kept)


def validate(place: SubmissionPlace, principal: Principal, terms: TermsVersions | None, body: WorkflowRequest) -> bytes:
    """Return the compiled workflow with its notes, as JSON of a `WorkflowPlan`; SubmissionRefused."""
    whole = compile_checked(body.document, body.parameters, place_of(place, "WORKFLOW"))
    fits = checked_applications(whole.steps, place, principal, terms)
    notes = dict.fromkeys(note for fit in fits for note in fit.notes)
    return workflow_plan(whole, list(notes)).model_dump_json().encode()


@dataclass(frozen=True, slots=True)
class NewExecutions:
    """The executions of a workflow, before they are stored."""

    whole: CompiledWorkflow
    fits: Sequence[Checked]
    ids: Sequence[str]
    parts: WorkflowParts


def make_executions(
    place: SubmissionPlace,
    principal: Principal,
    terms: TermsVersions | None,
    body: WorkflowRequest,
    workflow_id: str,
    now_s: float,
) -> NewExecutions:
    """Return the checked executions of a workflow that is submitted now; SubmissionRefused."""
    whole = compile_checked(body.document, body.parameters, place_of(place, workflow_id))
    fits = checked_applications(whole.steps, place, principal, terms)
    ids = new_ids(whole.steps)
    under = [step_conditions(step, ids, now_s) for step in whole.steps]
    parts = parts_of(list(zip(ids, whole.steps, fits, under, strict=True)), principal, now_s)
    if body.finish_by is not None:
        wish = PromiseWish(body.confidence or CONFIDENCE, budget_text(body.budget))
        parts = with_step_promises(parts, workflow_id, wish, body.finish_by, now_s)
    elif body.confidence is not None or body.budget is not None:
        raise SubmissionRefused("invalid_request", "confidence and budget need finish_by")
    return NewExecutions(whole, fits, ids, parts)


def promised_members(
    place: SubmissionPlace,
    principal: Principal,
    terms: TermsVersions | None,
    body: WorkflowRequest,
    workflow_id: str,
    now_s: float,
) -> tuple[list[Execution], list[str]]:
    """Return the executions of a workflow that would be promised together, which are few, and the notes of all."""
    made = make_executions(place, principal, terms, body, workflow_id, now_s)
    members = [execution for execution in made.parts.executions if execution.application.promise is not None]
    return members, list(dict.fromkeys(note for fit in made.fits for note in fit.notes))
