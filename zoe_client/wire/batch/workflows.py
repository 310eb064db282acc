"""Workflows and their steps."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from zoe_client.vocabulary import Cause, DeadlineStatus, IndexState, ListProblem, OfferKind, PromiseRisk
from zoe_client.wire.base import Numbers, Wire
from zoe_client.wire.executions.deadlines import ConfidenceShare, FinishByText, PromiseBudget


class WorkflowState(StrEnum):
    """States of a workflow."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepState(StrEnum):
    """States of a step. `skipped`: a dependency ended otherwise than required; `not_needed`: the watched steps did not
    fail.
    """

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    NOT_NEEDED = "not_needed"


class WorkflowRequest(Numbers):
    """A workflow, and values of its parameters; texts are read as the parameter's type says."""

    document: dict[str, Any] = Field(description="The workflow, format version 1.")
    parameters: dict[str, Any] = Field(default={}, max_length=64, description="Values by name.")
    finish_by: FinishByText | None = None
    confidence: ConfidenceShare | None = None
    budget: PromiseBudget | None = None


class StepPlan(Wire):
    """An execution that a workflow compiles to; `after` as in a batch: `ok:#N` is step number N, from 0."""

    name: str
    values: dict[str, Any]
    after: list[str]
    any_of: bool = Field(description="Run once any one of `after` is met.")
    deadline_s: float | None = Field(description="Deadline in seconds after the submission.")
    deadlines: list[str] = Field(default=[], description="Deadlines as times, parsed at the submission.")
    application: dict[str, Any]
    for_each: dict[str, str] = Field(
        default={}, description="Run once for each entry of this list: STEP.RESULT by the name of an entry."
    )
    at_once: int | None = Field(default=None, description="Maximum entries that run at once; null: unlimited.")


class WorkflowPlan(Wire):
    """The executions that a workflow compiles to. Paths of results contain `WORKFLOW` in place of its id."""

    name: str
    parameters: dict[str, Any]
    steps: list[StepPlan]
    notes: list[str] = Field(default=[])


class EntriesView(Wire):
    """Progress of a step that runs once for each entry of a list."""

    count: int | None = Field(description="Number of entries of the list; null: it has not been read, or is refused.")
    states: dict[IndexState, int] = Field(description="Number of entries by state; states without any are missing.")
    problem: ListProblem | None = Field(description="Why the list cannot be used; null: it can, or has not been read.")


class StepView(Wire):
    """A step and its newest execution; times are in seconds since the epoch."""

    name: str
    step: str = Field(description="Name of the step in the document; steps of one matrix share it.")
    values: dict[str, Any]
    after: list[str] = Field(
        description="Steps that must end first, with their required outcome, such as `ok:prepare`."
    )
    on_failure: bool
    execution_id: str = Field(description="With `for_each`, the id of its array.")
    run: int = Field(description="Number of the workflow's run that last submitted the step, from 1.")
    state: StepState
    cause: Cause | None
    message: str
    exit_code: int | None
    started_at_s: float | None
    ended_at_s: float | None
    results: dict[str, str] = Field(
        description="Paths below the owner's workspace, by name; with `for_each`, `{index}` is the number of an entry."
    )
    for_each: dict[str, str] = Field(
        default={}, description="Run once for each entry of this list: STEP.RESULT by the name of an entry."
    )
    entries: EntriesView | None = Field(default=None, description="Null without `for_each`.")


class WorkflowSummary(Wire):
    """One workflow as a line of a list."""

    id: str
    name: str
    tenant: str
    user: str
    state: WorkflowState
    run: int
    submitted_at_s: float
    ended_at_s: float | None
    steps_total: int
    steps: dict[StepState, int] = Field(description="Number of steps by state; states without any are missing.")


class WorkflowTermsView(Wire):
    """Terms of a promise for a whole workflow: its end, the confidence, and the price; `price` null: unknown."""

    finish_s: float = Field(description="Promised end, in seconds since the epoch.")
    confidence: float
    price: str | None
    currency: str


class WorkflowOfferView(Wire):
    """Alternative terms for a whole workflow."""

    number: int
    kind: OfferKind = Field(description="How the terms differ from the request.")
    terms: WorkflowTermsView = Field(description="The terms if it is accepted now.")
    moves: bool = Field(default=False, description="Whether it ends later if it is accepted later.")
    ends_s: float | None = Field(default=None, description="Until when it can be accepted.")


class WorkflowRiskView(Wire):
    """A step that is expected to end too late for the promise: why, and its expected end."""

    step: str
    risk: PromiseRisk
    end_s: float


class WorkflowPromiseView(Wire):
    """Promise for a whole workflow: its terms or, if it is refused, the cause and the offers, valid until `ends_s`.

    All are null or empty while the promise is undecided. risks: steps that have not ended.
    """

    status: DeadlineStatus | None = Field(
        default=None, description="Status against the promise; null: as promised, or it did not succeed in time."
    )
    risks: list[WorkflowRiskView] = Field(default=[], description="Steps that are expected to end too late.")

    terms: WorkflowTermsView | None
    why: str
    ends_s: float | None
    offers: list[WorkflowOfferView]


class PromisePlan(Wire):
    """The promise that a workflow, or an array, would get if it were submitted now."""

    promise: WorkflowPromiseView
    notes: list[str] = Field(default=[], description="Notes on the price, on budgets and on unknown values.")


class WorkflowView(WorkflowSummary):
    """A workflow with its steps in the order of their dependencies."""

    graph: list[StepView]
    promise: WorkflowPromiseView | None = Field(default=None, description="Null: no promise was requested.")
    notes: list[str] = Field(
        default=[], description="Notes on price, budgets and promise; only in answers to a submission or a resumption."
    )
    parameters: dict[str, Any] = Field(description="Empty for users with whom the workflow is only shared.")
    document: dict[str, Any] = Field(description="Empty for users with whom the workflow is only shared.")


class WorkflowList(Wire):
    """A page of workflows, newest first; `next_cursor` asks for the next one."""

    workflows: list[WorkflowSummary]
    next_cursor: str | None = None


class WorkflowOf(Wire):
    """The workflow of an execution; null: it belongs to none."""

    workflow_id: str | None
