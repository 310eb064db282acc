"""Stored applications and schedules. Times are seconds since the epoch."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import MissedPolicy, OverlapPolicy, RunKind, ScheduleOutcome
from zoe_client.wire.base import SECONDS_MAX, Numbers, PrintableName, Wire
from zoe_client.wire.executions.deadlines import (
    DEADLINE,
    ConfidenceShare,
    DeadlineText,
    FinishByText,
    PromiseBudget,
    check_one_deadline,
)
from zoe_client.wire.executions.executions import AFTER_LENGTH_MAX, AFTER_PATTERN, DEPENDENCIES_MAX
from zoe_client.words.names import NAME

JITTER_S_MAX = 86400.0
AHEAD_S_MAX = 7 * 86400.0
_VERSION_MAX = 2**31 - 1
Parameters = Annotated[dict[str, Any], Field(max_length=64, description="Values of its parameters, by name.")]
Indices = Annotated[
    str | None, Field(pattern=r"^[0-9,:%-]+$", max_length=4096, description="Run it as an array, such as `0-9%2`.")
]
Version = Annotated[int, Field(ge=1, le=_VERSION_MAX)]


class StoredApplicationRequest(Wire):
    """A description, format version 4, which may have `params` as workflows do; or a workflow."""

    document: dict[str, Any]


class StoredApplicationView(Wire):
    """A version of a stored application. `user`: its owner; null: the tenant. `parameters`: as declared."""

    name: str
    user: str | None
    version: int
    workflow: bool
    parameters: dict[str, Any]
    made_at_s: float
    made_by: str


class StoredApplicationDetail(StoredApplicationView):
    """A version with its document, and the stored versions, the newest first."""

    document: dict[str, Any]
    versions: list[int]


class StoredApplicationList(Wire):
    """The newest versions of the tenant's stored applications, and of yours."""

    applications: list[StoredApplicationView]


class DispatchRequest(Numbers):
    """Options of a run of a stored application. `priority`, `deadline_s` and `indices` are not for workflows."""

    parameters: Parameters = Field(default={})
    version: Version | None = Field(default=None, description="Version to run (default: the newest).")
    name: PrintableName | None = Field(default=None, max_length=128)
    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(default=None, gt=0, le=SECONDS_MAX)
    deadline: DeadlineText | None = Field(default=None, description=DEADLINE)
    indices: Indices = None
    hold: bool = False
    begin_at_s: float | None = Field(default=None, ge=0, le=SECONDS_MAX)
    begin_in_s: float | None = Field(default=None, ge=0, le=SECONDS_MAX)
    after: list[Annotated[str, Field(pattern=AFTER_PATTERN, max_length=AFTER_LENGTH_MAX)]] = Field(
        default=[], max_length=DEPENDENCIES_MAX
    )
    keep: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.begin_at_s is not None and self.begin_in_s is not None:
            raise PydanticCustomError("begin", "give begin_at_s or begin_in_s, not both")
        if self.keep and not self.after:
            raise PydanticCustomError("keep", "keep needs after")
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class RunView(Wire):
    """The submitted execution, array or workflow, and notes for its user."""

    kind: RunKind
    id: str
    notes: list[str] = Field(default=[])


class ScheduleRequest(Numbers):
    """The times of a schedule, and what it runs: a stored application by its name, or a document of its own."""

    expression: str = Field(
        min_length=1, max_length=200, description="Cron expression of five fields, or a name such as `@daily`."
    )
    zone: str = Field(default="UTC", min_length=1, max_length=64, description="Time zone, such as Europe/Paris.")
    application: str | None = Field(default=None, pattern=NAME, description="Name of a stored application.")
    version: Version | None = Field(default=None, description="Its version (default: the newest at each time).")
    document: dict[str, Any] | None = Field(default=None, description="A description or a workflow.")
    parameters: Parameters = Field(default={})
    run_name: PrintableName | None = Field(default=None, max_length=128, description="Name of its runs.")
    priority: int | None = Field(default=None, ge=-1000, le=1000)
    deadline_s: float | None = Field(default=None, gt=0, le=SECONDS_MAX)
    deadline: DeadlineText | None = Field(default=None, description=DEADLINE)
    finish_by: FinishByText | None = None
    confidence: ConfidenceShare | None = None
    budget: PromiseBudget | None = None
    indices: Indices = None
    ahead_s: float = Field(
        default=0.0,
        ge=0,
        le=AHEAD_S_MAX,
        description="Submit each run this many seconds before its time, at which it begins. Deadlines count from its "
        "time. A promise is decided when it is submitted.",
    )
    missed: MissedPolicy = Field(
        default=MissedPolicy.LATEST,
        description="Treatment of times that passed while no master ran: `skip` them, run the `latest`, or `all`, "
        "the newest hundred.",
    )
    overlap: OverlapPolicy = Field(
        default=OverlapPolicy.SKIP,
        description="Treatment of a time while an earlier run has not ended: `allow` both, `skip` it, `queue` it "
        "after the earlier one, or `replace` the earlier one.",
    )
    jitter_s: float = Field(
        default=0.0, ge=0, le=JITTER_S_MAX, description="Delay each run by a random time of up to this many seconds."
    )
    end_at_s: float | None = Field(default=None, ge=0, le=SECONDS_MAX, description="No run begins after this time.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.application is None) == (self.document is None):
            raise PydanticCustomError("what", "give application or document")
        if self.version is not None and self.application is None:
            raise PydanticCustomError("version", "version needs application")
        if self.finish_by is None and (self.confidence is not None or self.budget is not None):
            raise PydanticCustomError("promise", "confidence and budget need finish_by")
        if self.finish_by is not None and (self.deadline is not None or self.deadline_s is not None):
            raise PydanticCustomError("promise", "give finish_by or a deadline, not both")
        return self


class ScheduleRunView(Wire):
    """Outcome of a schedule's time. `due_s`: null if a user ran it. `number`: how many times were skipped. `state`: of
    the run, if it is stored.
    """

    due_s: float | None
    at_s: float
    outcome: ScheduleOutcome
    kind: RunKind | None
    run_id: str | None
    code: str
    message: str
    number: int
    state: str | None = None


class ScheduleView(Wire):
    """A schedule. `due_s`: its next time; `next_at_s`: when that run begins, including jitter; null: no times are
    left.
    """

    name: str
    tenant: str
    user: str
    expression: str
    zone: str
    application: str | None
    version: int | None
    parameters: dict[str, Any]
    run_name: str | None
    priority: int | None
    deadline_s: float | None
    deadline: str | None = None
    finish_by: str | None = None
    confidence: float | None = None
    budget: float | None = None
    ahead_s: float = 0.0
    indices: str | None
    missed: MissedPolicy
    overlap: OverlapPolicy
    jitter_s: float
    end_at_s: float | None
    held: bool
    held_by_operator: bool = Field(default=False, description="Only operators may release it.")
    due_s: float | None
    next_at_s: float | None
    made_at_s: float
    last: ScheduleRunView | None
    notes: list[str] = Field(default=[], description="Reasons for which a run would be refused now.")


class BackfillRequest(Numbers):
    """Past times of a schedule to run, both ends included."""

    from_s: float = Field(ge=0, le=SECONDS_MAX)
    to_s: float = Field(ge=0, le=SECONDS_MAX)
    at_once: int = Field(
        default=1,
        ge=1,
        le=100,
        description="Maximum runs at the same time; the next one begins when one has ended.",
    )
    newest_first: bool = False
    failed: bool = Field(default=False, description="Repeat failed and cancelled runs, too.")


class BackfillView(Wire):
    """The submitted runs, in the order in which they run. If a time was refused, it is the last one: request it and the
    later times again.
    """

    runs: list[ScheduleRunView]
    passed: dict[str, int] = Field(
        default={},
        description="Number of times skipped because they have run before, by the states of these runs; "
        "`removed`: the run is not stored any more.",
    )
    notes: list[str] = Field(default=[], description="Notes for the user on all runs.")


class ScheduleDetail(ScheduleView):
    """A schedule with its document, its next times, and the outcomes of its last ones, the newest first."""

    document: dict[str, Any] | None
    next_times_s: list[float]
    runs: list[ScheduleRunView]


class ScheduleList(Wire):
    """Schedules by user and name."""

    schedules: list[ScheduleView]
