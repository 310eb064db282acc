"""Arrays: one description that runs once for each of many indices."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import Cause, ExecutionState, IndexState
from zoe_client.wire.base import SECONDS_MAX, IndicesText, Numbers, Wire
from zoe_client.wire.batch.workflows import EntriesView, WorkflowPromiseView
from zoe_client.wire.executions.deadlines import DEADLINE, DeadlineText, check_one_deadline
from zoe_client.wire.executions.executions import (
    AFTER_LENGTH_MAX,
    DEPENDENCIES_MAX,
    ConditionsView,
    ReasonView,
    SubmitRequest,
)

ARRAY_AFTER_PATTERN = r"^(ok|fail|any|corr):[A-Za-z0-9_-]+$"
BRIEF_MAX = 10_000


class ArrayRequest(SubmitRequest):
    """A submission of an array: the settings of an execution, and the indices."""

    indices: IndicesText = Field(
        description="`0-999`, `1,3,7-20:2` (a range with a step), and `%50` behind it: at most 50 of them at once.",
    )
    after: list[Annotated[str, Field(pattern=ARRAY_AFTER_PATTERN, max_length=AFTER_LENGTH_MAX)]] = Field(
        default=[],
        max_length=DEPENDENCIES_MAX,
        description="Executions or arrays that must have ended before any index runs, as for an execution; "
        "`corr:ARRAY`: each index runs after the same index of that array, which has the same indices, has succeeded.",
    )


class ArrayModifyRequest(Numbers):
    """Changes to an array; fields that are left out keep their values."""

    priority: int | None = Field(default=None, ge=-1000, le=1000, description="Priority of all waiting indices.")
    at_once_max: int | None = Field(
        default=None, ge=1, le=999_999_999, description="How many indices may be active at once; null for any number."
    )

    deadline_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Deadline of all indices in seconds from now; or null."
    )
    deadline: DeadlineText | None = Field(default=None, description=f"{DEADLINE} Null: unchanged.")
    time_limit_s: float | None = Field(
        default=None,
        gt=0,
        le=SECONDS_MAX,
        description="Time limit of waiting indices in seconds; null for the tenant's.",
    )
    begin_at_s: float | None = Field(
        default=None,
        ge=0,
        le=SECONDS_MAX,
        description="When indices may enter the queue (seconds since the epoch); or null.",
    )
    application: dict[str, Any] | None = Field(
        default=None,
        description="The description with other resources, commands or files, for all waiting indices; components "
        "and their numbers stay. For its owner only, since it runs as the owner.",
    )

    @model_validator(mode="after")
    def _check_any_change(self) -> Self:
        if not self.model_fields_set or ("priority" in self.model_fields_set and self.priority is None):
            raise PydanticCustomError(
                "nothing", "give priority, at_once_max, deadline, begin_at_s, time_limit_s or application"
            )
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class ArraySummary(Wire):
    """One array as a line of a list. `state`: submitted before its first execution; then running, starting or stopping
    if one of its executions is, else queued; and how it ended.
    """

    id: str
    name: str
    application: str
    tenant: str
    user: str
    state: ExecutionState
    version: int
    run: int = Field(description="Number of the run: 1, and one more for each `requeue`.")
    indices: str
    size: int = Field(description="Number of indices.")
    at_once_max: int | None
    priority: int
    deadline_s: float | None
    late_count: int | None = Field(
        default=None, description="Number of indices without an execution when the deadline passed; null: none."
    )
    submitted_at_s: float
    ended_at_s: float | None
    message: str
    reason: ReasonView | None = Field(description="Why waiting indices do not run; in lists only while no index runs.")
    counts: dict[IndexState, int] = Field(description="Number of indices by state; states without any are missing.")
    active_states: dict[ExecutionState, int] = Field(
        default={}, description="Number of executions of active indices by state; states without any are missing."
    )
    ran_s: float | None = Field(
        default=None,
        description="Seconds in which at least one index had places, in all runs; null if none had, and in long lists.",
    )
    cause: Cause | None = Field(
        default=None, description="Why it failed or was cancelled; null if indices failed for different causes."
    )
    entries: EntriesView | None = Field(
        default=None,
        description="Entries of the list for which it runs, as a workflow step; one index stands for all until it is "
        "read. Null for an array of indices alone.",
    )
    notes: list[str] = Field(default=[])


class ArrayView(ArraySummary):
    """One array with the indices in each state, and its description."""

    ranges: dict[IndexState, str] = Field(
        description="The indices in each state, such as `3,7-9`; a long text ends with `...`."
    )
    conditions: ConditionsView | None
    corr: list[str] = Field(description="Arrays of which the same index must succeed first.")
    description: dict[str, Any]
    promise: WorkflowPromiseView | None = Field(
        default=None, description="Promise for all indices together; null: none was requested, or it runs again."
    )


class ArrayList(Wire):
    """A page of arrays, newest first."""

    arrays: list[ArraySummary]
    next_cursor: str | None = None


class IndexView(Wire):
    """One index: its state, and its newest execution. `ARRAY_INDEX` is the id of the first, `ARRAY_INDEXr2` that of the
    second run.
    """

    index: int
    state: IndexState
    execution_id: str | None = Field(default=None, description="Null before the index has one, and in brief lists.")
    execution_state: ExecutionState | None = None
    exit_code: int | None = None
    cause: Cause | None = None
    message: str = ""


class IndexList(Wire):
    """A page of indices in ascending order; `next_after` asks for the next one."""

    indices: list[IndexView]
    next_after: int | None = None
