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
STORAGE_PROBLEM = "Why the requested bandwidth is not granted, or no longer; else empty."
SCALING_PROBLEM = "Whether a scaling rule has no measurement, as a sentence; else empty."


class SubmitRequest(Numbers):
    """A submission: the description, and settings of this execution."""

    application: dict[str, Any] = Field(description="The description, format version 4.")
    name: PrintableName | None = Field(
        default=None, max_length=128, description="Name of the execution (default: the application's name)."
    )
    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(default=None, gt=0, le=SECONDS_MAX, description="Deadline in seconds from now.")
    deadline: DeadlineText | None = Field(default=None, description=DEADLINE)
    hold: bool = Field(default=False, description="Keep the execution out of the queue until it is released.")
    begin_at_s: float | None = Field(
        default=None,
        ge=0,
        le=SECONDS_MAX,
        description="Time before which it does not enter the queue (seconds since the epoch).",
    )
    begin_in_s: float | None = Field(
        default=None,
        ge=0,
        le=SECONDS_MAX,
        description="`begin_at_s` as seconds from now, so that a repeated request is identical; give only one.",
    )
    after: list[Annotated[str, Field(pattern=AFTER_PATTERN, max_length=AFTER_LENGTH_MAX)]] = Field(
        default=[],
        max_length=DEPENDENCIES_MAX,
        description="Executions that must have ended first: `ok:ID` successfully, `fail:ID` otherwise, `any:ID` in any "
        "way. In a batch, `ok:#N` is execution number N of the batch, from 0; it must precede this one.",
    )
    keep: bool = Field(
        default=False,
        description="Hold it if `after` can no longer be met; else it ends as failed, with cause `dependency_failed`.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.begin_at_s is not None and self.begin_in_s is not None:
            raise PydanticCustomError("begin", "give begin_at_s or begin_in_s, not both")
        if self.keep and not self.after:
            raise PydanticCustomError("keep", "keep needs after")
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class ModifyRequest(Numbers):
    """Changes to a waiting execution; fields that are left out keep their values."""

    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Deadline in seconds from now; null for none."
    )
    deadline: DeadlineText | None = Field(default=None, description=f"{DEADLINE} Null: unchanged.")
    begin_at_s: float | None = Field(
        default=None,
        ge=0,
        le=SECONDS_MAX,
        description="Time from which it may enter the queue (seconds since the epoch); or null.",
    )
    time_limit_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Time limit in seconds; null for the tenant's."
    )
    application: dict[str, Any] | None = Field(
        default=None,
        description="The description with other resources, commands or files; components and their counts stay. "
        "For its owner only, since it runs as the owner.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class ScaleRequest(Numbers):
    """New instance counts of some components of an execution."""

    total_counts: dict[str, Annotated[int, NUMBER, Field(ge=0, le=10_000)]] = Field(
        min_length=1, max_length=1000, description="Number of instances by component, essential and elastic."
    )


BATCH_MAX = 100


class BatchRequest(Numbers):
    """Several submissions that are stored all together, or not at all."""

    executions: list[SubmitRequest] = Field(min_length=1, max_length=BATCH_MAX)


class ReasonView(Wire):
    """Why an execution waits."""

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
        description="Names and sizes of the files in its scratch directory at its end, which is removed; empty if "
        "there were none, or if the back-end does not know.",
    )


class ForecastView(Wire):
    """Forecast of an execution's start and end, computed at `at_s`; times are null while they cannot be estimated.

    p50: half of all forecasts meet it; p90: nine of ten do, calibrated by the outcomes of `samples` earlier forecasts
    (0: a rule of thumb). `extrapolated`: the queue was too long to simulate all of it.
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
    """The cancelled executions and arrays of a family: an execution or array, and its descendants."""

    ids: list[str] = Field(description="Executions and arrays that had not ended.")


class Eta(Wire):
    """The present forecast, and the accuracy of forecasts on this installation."""

    state: ExecutionState
    forecast: ForecastView | None = Field(
        description="Null if the execution neither waits nor runs, or the master does not answer. While it runs, both "
        "times of its start are that of its placement."
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
    told: int = Field(default=0, description="Number of wait forecasts with a known outcome.")
    held: int = Field(default=0, description="Number of these for which the execution started by p90.")


class ChangeView(Wire):
    """A change that would let the application start now: fewer or smaller essential services of a component."""

    component: str
    part: Literal["essential_count", "memory_bytes", "cores_milli"]
    before: int
    after: int


class OwnUseView(Wire):
    """Executions of the caller that hold what a waiting one lacks: if they ended, it would find room."""

    ids: list[str] = Field(description="The largest of them, at most 5.")
    count: int = Field(description="Number of such executions.")
    what: Literal["cores", "memory"]
    held: float = Field(description="Cores or bytes that they hold.")
    total: float = Field(description="Cores or bytes of the nodes that you may use.")


class InstancesView(Wire):
    """Instances of a component with elastic ones: `given` have a place, `total` are possible."""

    component: str
    given: int
    preferred: int
    total: int


class ProgressView(Wire):
    """Progress of an execution as its program reports it; Zoe does not check it.

    share: from 0 to 1; null before the first reading. text: the unit or subject. problem: why the last reading, at
    `at_s`, was not understood. remaining_s: estimated rest at the recent pace; `remaining_low_s` and `remaining_high_s`
    are quartiles; all are null if unknown, and in lists.
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
    deadline: DeadlineView | None = Field(default=None, description="Status against its deadline; null without one.")
    promise: PromiseView | None = Field(default=None, description="The promise in force; null without one.")
    offers: OffersView | None = Field(
        default=None, description="Offers instead of the requested promise, until one is accepted."
    )
    submitted_at_s: float
    marks: dict[Mark, float]
    ran_s: float | None = Field(
        default=None,
        description="Run time of the last attempt, from placement to the end of its last service; null before.",
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
    elastic_preferred: int | None = Field(
        default=None, description="How many elastic instances are preferred; null if all are."
    )
    progress: ProgressView | None = Field(
        default=None, description="Progress; null if it does not run, or its description has no `progress`."
    )


class InputReadView(Wire):
    """The way in which an input with a pushdown is read: through a view (its id), or plainly (null); `why` is a
    sentence.
    """

    name: str
    uri: str
    view: str | None
    columns: list[str]
    why: str
    decided: bool = Field(
        description="Whether the way is decided: once for each attempt, after its placement and before it "
        "starts anything."
    )
    unanswered: bool = Field(
        default=False,
        description="Whether it is read plainly because the storage controller did not answer in time, which may "
        "be slower.",
    )


class DependencyView(Wire):
    """An execution that must end before another enters the queue; `met`: whether it ended as required, null if
    undecided.
    """

    kind: DependencyKind
    on: str
    met: bool | None


class ConditionsView(Wire):
    """Conditions that keep an execution from the queue, or have kept it."""

    any_of: bool = Field(default=False, description="One met dependency is enough.")
    end_by_s: float | None = Field(default=None, description="Time at which Zoe ends it, unless it has ended.")

    held: Holder | None
    begin_at_s: float | None
    after: list[DependencyView]
    keep: bool


class TransfersView(Wire):
    """Bytes of bodies that an execution moved to and from the object store with its own credentials."""

    read_bytes: int
    written_bytes: int
    transferring_s: float = Field(
        description="Seconds with at least one request that waited for the store or moved bytes."
    )
    waiting_s: float = Field(description="Seconds that requests waited for the store, added up over all requests.")
    whole: bool = Field(
        description="False if a proxy of the store did not report its bytes: the true numbers may be higher."
    )
    final: bool = Field(description="Whether these are the final numbers, from the journal.")
    at_s: float = Field(description="Time of the measurement, in seconds since the epoch.")


class StoreQueryReport(Numbers):
    """What a Spark query read from the object store, as its driver counted it."""

    number: int = Field(ge=0, le=2**53, description="Number of the query in its Spark application.")
    object_bytes: int = Field(ge=0, le=2**53, description="Bytes of the scanned parts of objects.")
    read_bytes: int = Field(ge=0, le=2**53, description="Bytes that the store sent for these.")
    plainly: list[Annotated[str, Field(max_length=200)]] = Field(
        default=[], max_length=5, description="Why parts of objects were read as a whole."
    )


class StoreQueriesReport(Wire):
    """Queries that ended since the last report."""

    queries: list[StoreQueryReport] = Field(min_length=1, max_length=100)


class StoreQueryView(StoreQueryReport):
    """A reported query."""

    at_s: float = Field(description="Time of the report, in seconds since the epoch.")


class ParentJobView(Wire):
    """The job that submitted an execution with its token."""

    execution_id: str
    attempt: int


class ExecutionView(ExecutionSummary):
    """One execution with its services, its notes and its description."""

    services: list[ServiceView]
    inputs: list[InputReadView] = Field(default=[], description="The way in which each input with a pushdown is read.")
    places: list[InputPlacesView] = Field(default=[], description="Share of its inputs on each node at its placement.")
    notes: list[str]
    instances: list[InstancesView] = Field(default=[], description="Counts of each component with elastic instances.")
    conditions: ConditionsView | None = Field(default=None, description="Null if it was submitted without conditions.")
    storage_problem: str = Field(default="", description=STORAGE_PROBLEM)
    scaling_problem: str = Field(default="", description=SCALING_PROBLEM)
    transfers: TransfersView | None = Field(
        default=None, description="Bytes moved to and from the object store so far; null: unknown."
    )
    queries: list[StoreQueryView] = Field(
        default=[],
        description="What its newest 100 Spark queries over CSV and JSON read from the object store, oldest first.",
    )
    detail: str = Field(default="", description=DETAIL)
    access: ShareLevel = Field(
        default=ShareLevel.CONTROL,
        description="Your rights: the level shared with you, or `control` for its owner and for operators.",
    )
    submitted_by: ParentJobView | None = Field(
        default=None, description="The job that submitted it, for its owner and for operators; null: no job did."
    )
    submitted: list[str] = Field(
        default=[],
        description="The newest 100 executions and arrays that it submitted as a job, for its owner and for operators.",
    )
    description: dict[str, Any]


class ExecutionList(Wire):
    """A page of executions; `next_cursor` asks for the next one."""

    executions: list[ExecutionSummary]
    next_cursor: str | None = None
    searched_to_s: float | None = Field(
        default=None,
        description="A search by name stopped here: it has searched the submissions since then, and the next "
        "page continues. Such a page may be short, or empty.",
    )


class ExecutionBatch(Wire):
    """The executions of a batch, in the order of the request."""

    ids: list[str]
    executions: list[ExecutionSummary] = Field(default=[], description="Empty after `Prefer: return=minimal`.")


class ServiceConditionView(Wire):
    """What a service of a placed execution waits for, or what keeps it from working, as a sentence."""

    service_id: str
    name: str
    node: str | None
    state: ServiceState
    sentence: str
    detail: str = Field(default="", description=DETAIL)


class Explanation(Wire):
    """Why an execution does not run: the reason, the number of executions ahead, and the refusals by node and
    component. Once it is placed: `services`, those that do not run as they should.

    `inputs`: how those with a pushdown are read, whether it runs or not. A starting execution also has a reason if the
    storage controller refuses its required bandwidth.
    """

    state: ExecutionState
    cause: Cause | None = Field(default=None, description="Cause of its end; null before it.")
    message: str = Field(default="", description="What happened at its end.")
    reason: ReasonView | None
    after: list[DependencyView] = Field(
        default=[], description="Executions and arrays that must end first; only for its owner and for operators."
    )
    own_use: OwnUseView | None = Field(
        default=None, description="Your own executions that hold what it lacks; null if others do."
    )
    start_p50_s: float | None = Field(
        default=None, description="Start that half of all forecasts meet, as last computed; null: unknown."
    )
    ahead: int | None = None
    ahead_of_tenant: int = Field(default=0, description="Number of these executions that belong to the same tenant.")
    ahead_ids: list[str] = Field(
        default=[],
        description="Ids of the first executions ahead that you may see, at most 10.",
    )
    nodes: dict[str, dict[str, str]] = Field(default={})
    change: ChangeView | None = Field(default=None, description="The smallest change that would let it start now.")
    cut_after_steps: int | None = Field(
        default=None,
        description="Steps of the scheduler after which the search for a change was cut; null if it is whole.",
    )
    problem: str = Field(default="", description="Why the master gave no answer; empty if it gave one.")
    inputs: list[InputReadView] = Field(default=[])
    places: list[InputPlacesView] = Field(default=[], description="How much of its inputs each node holds.")
    storage_problem: str = Field(default="", description=STORAGE_PROBLEM)
    scaling_problem: str = Field(default="", description=SCALING_PROBLEM)
    services: list[ServiceConditionView] = Field(
        default=[], description="Services of a placed execution that do not run as they should, and why."
    )
    instances: list[InstancesView] = Field(default=[], description="Counts of each component with elastic instances.")
    fewer: ReasonView | None = Field(
        default=None,
        description="Why fewer than the preferred instances run; null if enough do, or if it has no places.",
    )
    missing_secrets: str = Field(default="", description="Secrets that it needs to start and that do not exist now.")
    deadline: DeadlineView | None = Field(default=None, description="Status against its deadline; null without one.")
    detailed: bool = Field(
        description="False if the master does not answer; the response then contains stored data only."
    )
