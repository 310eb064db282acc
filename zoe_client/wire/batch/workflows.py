"""Workflows and their steps."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from zoe_client.vocabulary import Cause, DeadlineStatus, IndexState, ListProblem, OfferKind, PromiseRisk
from zoe_client.wire.base import Numbers, Wire
from zoe_client.wire.executions.deadlines import ConfidenceShare, FinishByText, PromiseBudget


class WorkflowState(StrEnum):
    """How far a workflow is."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepState(StrEnum):
    """How far a step is. `skipped`: a step that it needs did not end so; `not_needed`: what it watches did not fail."""

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
    """An execution to which a workflow is compiled; `after` as in a batch: `ok:#N` is step number N, from 0."""

    name: str
    values: dict[str, Any]
    after: list[str]
    any_of: bool = Field(description="It runs once one of `after` is met.")
    deadline_s: float | None = Field(description="Seconds after the submission by which it must have ended.")
    deadlines: list[str] = Field(default=[], description="The same as times, which are read at the submission.")
    application: dict[str, Any]
    for_each: dict[str, str] = Field(
        default={}, description="It runs once for each entry of this list: STEP.RESULT by the name of an entry."
    )
    at_once: int | None = Field(default=None, description="How many entries run at once; null: any number.")


class WorkflowPlan(Wire):
    """What a workflow is compiled to. Paths of results have `WORKFLOW` where its id will stand."""

    name: str
    parameters: dict[str, Any]
    steps: list[StepPlan]
    notes: list[str] = Field(default=[])


class EntriesView(Wire):
    """How far a step is that runs once for each entry of a list."""

    count: int | None = Field(description="How many entries the list has; null: it has not been read, or is refused.")
    states: dict[IndexState, int] = Field(description="How many entries are in each state; states without any miss.")
    problem: ListProblem | None = Field(description="Why the list cannot be used; null: it can, or is not read yet.")


class StepView(Wire):
    """A step and its newest execution; times are in seconds since the epoch."""

    name: str
    step: str = Field(description="Its name in the document; steps of one matrix share it.")
    values: dict[str, Any]
    after: list[str] = Field(description="Names of steps with what their end has to be, such as `ok:prepare`.")
    on_failure: bool
    execution_id: str = Field(description="With `for_each`, the id of its array.")
    run: int = Field(description="In which run of the workflow it was last submitted, from 1.")
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
        default={}, description="It runs once for each entry of this list: STEP.RESULT by the name of an entry."
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
    steps: dict[StepState, int] = Field(description="How many steps are in each state; states without any are missing.")


class WorkflowTermsView(Wire):
    """By when a whole workflow ends, how sure that is, and what it costs; `price` null: not known."""

    finish_s: float = Field(description="When it has ended, in seconds since the epoch.")
    confidence: float
    price: str | None
    currency: str


class WorkflowOfferView(Wire):
    """Other terms for a whole workflow than those that were asked for."""

    number: int
    kind: OfferKind = Field(description="In what they differ.")
    terms: WorkflowTermsView


class WorkflowRiskView(Wire):
    """That a step is expected to end later than it has to for the whole: why, and when it is expected to end now."""

    step: str
    risk: PromiseRisk
    end_s: float


class WorkflowPromiseView(Wire):
    """Whether a workflow is promised as a whole: its terms, or why not, and what is offered instead until `ends_s`.

    All are null or empty while it is not decided. risks: of steps that have not ended.
    """

    status: DeadlineStatus | None = Field(
        default=None, description="How it stands to its promise; null: as promised, or it did not succeed in time."
    )
    risks: list[WorkflowRiskView] = Field(default=[], description="Steps that are expected to end too late.")

    terms: WorkflowTermsView | None
    why: str
    ends_s: float | None
    offers: list[WorkflowOfferView]


class PromisePlan(Wire):
    """What would be promised to a workflow, or to an array, if it were submitted now."""

    promise: WorkflowPromiseView
    notes: list[str] = Field(default=[], description="On its price, on budgets and on what cannot be known.")


class WorkflowView(WorkflowSummary):
    """A workflow with its steps in the order of their dependencies."""

    graph: list[StepView]
    promise: WorkflowPromiseView | None = Field(default=None, description="Null: no promise was asked for.")
    notes: list[str] = Field(
        default=[], description="On its price, on budgets and on its promise, where it is submitted or resumed."
    )
    parameters: dict[str, Any] = Field(description="Empty for those with whom it is only shared.")
    document: dict[str, Any] = Field(description="Empty for those with whom it is only shared.")


class WorkflowList(Wire):
    """A page of workflows, newest first; `next_cursor` asks for the next one."""

    workflows: list[WorkflowSummary]
    next_cursor: str | None = None


class WorkflowOf(Wire):
    """The workflow to which an execution belongs; null: to none."""

    workflow_id: str | None
