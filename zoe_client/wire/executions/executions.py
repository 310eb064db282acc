"""Executions and their services."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import (
    Cause,
    DependencyKind,
    ExecutionState,
    Holder,
    Mark,
    Outcome,
    ServiceState,
    ShareLevel,
)
from zoe_client.wire.base import NUMBER, SECONDS_MAX, Numbers, PrintableName, Wire
from zoe_client.wire.cluster.places import InputPlacesView
from zoe_client.wire.executions.deadlines import DEADLINE, DeadlineText, DeadlineView, check_one_deadline
from zoe_client.wire.executions.promises import OffersView, PromiseView

DETAIL = "The platform's own message if it says more; operators only, for one execution."
AFTER_PATTERN = r"^(ok|fail|any):(#[0-9]{1,4}|[A-Za-z0-9_-]+)$"
AFTER_LENGTH_MAX = 80
DEPENDENCIES_MAX = 100
STORAGE_PROBLEM = "Why the bandwidth that it asks for is not granted, or no longer; else empty."


class SubmitRequest(Numbers):
    """A submission: the description, and settings of this execution."""

    application: dict[str, Any] = Field(description="The description, format version 4.")
    name: PrintableName | None = Field(
        default=None, max_length=128, description="Name of the execution (default: the application's name)."
    )
    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Seconds from now by which the execution should have ended."
    )
    deadline: DeadlineText | None = Field(default=None, description=DEADLINE)
    hold: bool = Field(default=False, description="Keep it out of the queue until it is released.")
    begin_at_s: float | None = Field(
        default=None, ge=0, le=SECONDS_MAX, description="Keep it out of the queue until then (seconds since the epoch)."
    )
    begin_in_s: float | None = Field(
        default=None,
        ge=0,
        le=SECONDS_MAX,
        description="The same in seconds from now, so that a repeated request is the same; not with `begin_at_s`.",
    )
    after: list[Annotated[str, Field(pattern=AFTER_PATTERN, max_length=AFTER_LENGTH_MAX)]] = Field(
        default=[],
        max_length=DEPENDENCIES_MAX,
        description="Executions that must have ended first: `ok:ID` successfully, `fail:ID` otherwise, `any:ID` in any "
        "way. In a batch, `ok:#N` is its execution number N, from 0, which must stand before this one.",
    )
    keep: bool = Field(
        default=False,
        description="Hold it if it can no longer run after these; else it ends as failed, with cause "
        "`dependency_failed`.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.begin_at_s is not None and self.begin_in_s is not None:
            raise PydanticCustomError("begin", "give begin_at_s or begin_in_s, not both")
        if self.keep and not self.after:
            raise PydanticCustomError("keep", "keep belongs to after")
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class ModifyRequest(Numbers):
    """What to change of an execution that waits; what is left out stays as it is."""

    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Seconds from now by which it should have ended; null for none."
    )
    deadline: DeadlineText | None = Field(default=None, description=f"{DEADLINE} Null: unchanged.")
    begin_at_s: float | None = Field(
        default=None,
        ge=0,
        le=SECONDS_MAX,
        description="When it may enter the queue (seconds since the epoch); or null.",
    )
    time_limit_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Longest time that it may run; null for none of its own."
    )
    application: dict[str, Any] | None = Field(
        default=None,
        description="Its description with other resources, commands or files; components and their numbers stay. "
        "For its owner only, since it runs as the owner.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class ScaleRequest(Numbers):
    """How many instances an execution shall have of some components."""

    total_counts: dict[str, Annotated[int, NUMBER, Field(ge=0, le=10_000)]] = Field(
        min_length=1, max_length=1000, description="Number of instances by component, essential and elastic ones."
    )


BATCH_MAX = 100


class BatchRequest(Numbers):
    """Several submissions that are stored together, or not at all."""

    executions: list[SubmitRequest] = Field(min_length=1, max_length=BATCH_MAX)


class ReasonView(Wire):
    """Why something waits."""

    code: str
    sentence: str
    counts: dict[str, int] = Field(default={})
    hint: str = ""


class ServiceView(Wire):
    """One service of an execution."""

    id: str
    name: str
    component: str
    index: int
    core: bool
    attempt: int
    state: ServiceState
    node: str | None
    started_at_s: float | None
    ready_at_s: float | None
    ended_at_s: float | None
    exit_code: int | None
    cause: Cause | None
    message: str
    detail: str = Field(default="", description=DETAIL)
    left_files: str = Field(
        default="",
        description="Names and sizes of what was in its scratch directory at its end, which is removed; empty if "
        "nothing was, or if the back-end does not know.",
    )


class ForecastView(Wire):
    """When an execution is expected to start and end, computed at `at_s`; times are null while they cannot be
    estimated.

    p50: half of all forecasts hold that it happens by then; p90: nine of ten do, judged by how `samples` earlier ones
    turned out (0: a rule of thumb). `extrapolated`: the queue was too long to simulate all of it.
    """

    at_s: float
    wait_s: float | None = Field(description="Simulated wait in seconds, before calibration.")
    run_s: float | None = Field(description="Expected run time in seconds.")
    start_p50_s: float | None
    start_p90_s: float | None
    end_p50_s: float | None
    end_p90_s: float | None
    samples: int
    extrapolated: bool


class CancelledFamily(Wire):
    """What was cancelled of an execution or array and all that descends from it."""

    ids: list[str] = Field(description="Executions and arrays that had not ended.")


class Eta(Wire):
    """The present forecast, and how accurate forecasts have been on this installation."""

    state: ExecutionState
    forecast: ForecastView | None = Field(
        description="Null if the execution does not wait, or the master does not answer."
    )
    forecast_age_s: float | None = Field(
        default=None,
        description="Seconds since the forecast was computed: by the master in its last tick or, "
        "while the master does not answer, when it was stored. Null without a forecast.",
    )
    reason: ReasonView | None = Field(default=None, description="Last known reason why the execution waits.")
    run_time_source: str | None = Field(
        default=None, description="Source of `run_s`: `declared`, `past_runs`, `time_limit` or `unknown`."
    )
    told: int = Field(default=0, description="Number of forecasts of waits whose outcome is known.")
    held: int = Field(default=0, description="Number of these whose execution started by the forecast p90.")


class ChangeView(Wire):
    """A change that would let the application start now: fewer or smaller essential services of a component."""

    component: str
    part: Literal["essential_count", "memory_bytes", "cores_milli"]
    before: int
    after: int


class ProgressView(Wire):
    """How far an execution is, by what its program tells; nobody checks that.

    share: from 0 to 1; null before the first reading. text: what it is of. problem: why the last reading, at `at_s`,
    was not understood. remaining_s: how long the rest takes at the pace of late; `remaining_low_s` and
    `remaining_high_s` are quartiles; all are null where that is not known, and in lists.
    """

    share: float | None
    at_s: float
    text: str = ""
    problem: str = ""
    remaining_s: float | None = None
    remaining_low_s: float | None = None
    remaining_high_s: float | None = None


class ExecutionSummary(Wire):
    """One execution as a line of a list."""

    id: str
    name: str
    application: str
    kind: str
    tenant: str
    user: str
    state: ExecutionState
    version: int
    attempt: int
    priority: int
    deadline_s: float | None
    deadline: DeadlineView | None = Field(default=None, description="How it stands to its deadline; null without one.")
    promise: PromiseView | None = Field(default=None, description="By when it ends, if that is promised.")
    offers: OffersView | None = Field(
        default=None, description="What can be promised instead of what it asked for, until one is accepted."
    )
    submitted_at_s: float
    marks: dict[Mark, float]
    ran_s: float | None = Field(
        default=None,
        description="How long its last attempt ran, from its placement to the end of its last service; null before.",
    )
    outcome: Outcome | None
    exit_code: int | None
    cause: Cause | None
    message: str
    reason: ReasonView | None
    forecast: ForecastView | None = Field(
        description="Forecast given when the execution began to wait; it does not change later."
    )
    core_total: int
    core_ready: int
    elastic_total: int
    elastic_ready: int
    progress: ProgressView | None = Field(
        default=None, description="How far it is; null if it does not run, or its description has no `progress`."
    )


class InputReadView(Wire):
    """How an input with a pushdown is read: through a view (its id), or plainly (null); `why` is a sentence."""

    name: str
    uri: str
    view: str | None
    columns: list[str]
    why: str
    decided: bool = Field(
        description="Whether this is decided: once for each attempt, after it has its nodes and before it "
        "starts anything."
    )
    unanswered: bool = Field(
        default=False,
        description="Whether it is read plainly only because the storage controller gave no answer in time, which may "
        "be slower.",
    )


class DependencyView(Wire):
    """An execution that has to end before another enters the queue; `met`: whether it ended so, null if undecided."""

    kind: DependencyKind
    on: str
    met: bool | None


class ConditionsView(Wire):
    """What keeps an execution from the queue, or has kept it."""

    any_of: bool = Field(default=False, description="One dependency that is met is enough.")
    end_by_s: float | None = Field(default=None, description="The time by which it must have ended; else it is ended.")

    held: Holder | None
    begin_at_s: float | None
    after: list[DependencyView]
    keep: bool


class TransfersView(Wire):
    """What an execution moved to and from the object store with credentials of its own: bytes of bodies."""

    read_bytes: int
    written_bytes: int
    transferring_s: float = Field(description="Seconds in which any request waited for the store or moved bytes.")
    waiting_s: float = Field(description="The same, added up over requests that wait at the same time.")
    whole: bool = Field(
        description="False if a proxy of the store did not tell what it moved, so that it may have been more."
    )
    final: bool = Field(description="Whether it is what the journal has, and nothing more will come.")
    at_s: float = Field(description="When it was measured, in seconds since the epoch.")


class ParentJobView(Wire):
    """The job that submitted an execution by its token."""

    execution_id: str
    attempt: int


class ExecutionView(ExecutionSummary):
    """One execution with its services, its notes and its description."""

    services: list[ServiceView]
    inputs: list[InputReadView] = Field(default=[], description="How each input with a pushdown is read.")
    places: list[InputPlacesView] = Field(
        default=[], description="How much of its inputs each node held when it was placed."
    )
    notes: list[str]
    conditions: ConditionsView | None = Field(default=None, description="Null if it was submitted without any.")
    storage_problem: str = Field(default="", description=STORAGE_PROBLEM)
    transfers: TransfersView | None = Field(
        default=None, description="What it moved to and from the object store, so far; null: not known."
    )
    detail: str = Field(default="", description=DETAIL)
    access: ShareLevel = Field(
        default=ShareLevel.CONTROL,
        description="What you may do to it: what is shared with you, or `control` for its owner and for operators.",
    )
    submitted_by: ParentJobView | None = Field(
        default=None, description="The job that submitted it, for its owner and for operators; null: none did."
    )
    submitted: list[str] = Field(
        default=[], description="Executions and arrays that it submitted as a job, the newest 100, for the same."
    )
    description: dict[str, Any]


class ExecutionList(Wire):
    """A page of executions; `next_cursor` asks for the next one."""

    executions: list[ExecutionSummary]
    next_cursor: str | None = None
    searched_to_s: float | None = Field(
        default=None,
        description="A search by name stopped here: it has looked through what was submitted since then, and the next "
        "page goes on. Such a page may be short, or empty.",
    )


class ExecutionBatch(Wire):
    """The executions of a batch, in the order of the request."""

    ids: list[str]
    executions: list[ExecutionSummary] = Field(default=[], description="Empty after `Prefer: return=minimal`.")


class Explanation(Wire):
    """Why an execution is not running: the reason, how many are ahead, and per node and component what refuses.

    `inputs`: how those with a pushdown are read, whether it runs or not. One that starts and whose required bandwidth
    the storage controller refuses has a reason, too.
    """

    state: ExecutionState
    reason: ReasonView | None
    ahead: int | None = None
    ahead_of_tenant: int = Field(default=0, description="Number of these executions that belong to the same tenant.")
    ahead_ids: list[str] = Field(
        default=[],
        description="Ids of the first of these that you may see, at most 10.",
    )
    nodes: dict[str, dict[str, str]] = Field(default={})
    change: ChangeView | None = Field(default=None, description="The smallest change that would let it start now.")
    inputs: list[InputReadView] = Field(default=[])
    places: list[InputPlacesView] = Field(default=[], description="How much of its inputs each node holds.")
    storage_problem: str = Field(default="", description=STORAGE_PROBLEM)
    missing_secrets: str = Field(default="", description="Which secrets it needs to start and does not find now.")
    deadline: DeadlineView | None = Field(default=None, description="How it stands to its deadline; null without one.")
    detailed: bool = Field(
        description="False if the master does not answer; the response then contains stored data only."
    )
