"""Descriptions and the catalogue."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import DescriptionIcon
from zoe_client.wire.base import SECONDS_MAX, IndicesText, Numbers, Wire
from zoe_client.wire.cluster.prices import EstimateView
from zoe_client.wire.executions.deadlines import DEADLINE, DeadlineOutlookView, DeadlineText, check_one_deadline
from zoe_client.wire.executions.executions import ChangeView, ForecastView, InstancesView, OwnUseView, ReasonView
from zoe_client.wire.executions.promises import PromiseOutlookView


class ValidateRequest(Wire):
    """A description to check; nothing is submitted."""

    application: dict[str, Any]


class ValidateResponse(Wire):
    """The description with its frameworks expanded, and whether it could ever run here."""

    expanded: dict[str, Any]
    never_fits: ReasonView | None = None
    notes: list[str] = Field(default=[])


class PlanRequest(Numbers):
    """An application to plan; nothing is submitted."""

    application: dict[str, Any]
    priority: int | None = Field(
        default=None, ge=-1000, le=1000, description="Priority (default: the application's priority)."
    )
    deadline_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="Deadline in seconds from now (default: the application's)."
    )
    deadline: DeadlineText | None = Field(default=None, description=DEADLINE)
    indices: IndicesText | None = Field(
        default=None,
        description="Indices of an array, such as `0-99%10`; the rest of the answer is about one of them.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_one_deadline(self.deadline, self.deadline_s)
        return self


class AmountView(Wire):
    """Number of services, and the sum of their reservations."""

    services: int
    cores: float
    memory_bytes: int


class DemandView(Wire):
    """Resources and executions that an application takes from the cluster and its tenant's quota."""

    core: AmountView = Field(description="Amounts of the essential services.")
    elastic: AmountView = Field(description="Maximum beyond the essential services.")
    time_limit_s: float | None
    executions: int = Field(description="Waiting and running executions of the tenant.")
    executions_max: int | None = Field(description="Quota of the tenant; null: unlimited.")
    executions_of_user: int = Field(description="Waiting and running executions of the user in the tenant.")
    executions_of_user_max: int | None = Field(description="Quota of each user of the tenant; null: unlimited.")


class RunTimeView(Wire):
    """Run time of an application with a number of elastic services, estimated from its ended runs."""

    elastic: int = Field(description="Number of elastic services, in the order in which they start.")
    cores: float = Field(description="Cores of the services that share the work.")
    p50_s: float = Field(description="Half of such runs take no longer.")
    p90_s: float = Field(description="Nine of ten take no longer.")
    samples: int = Field(description="Number of ended runs behind the estimate, at most 64.")
    wide: bool = Field(
        description="Whether the estimate is uncertain: fewer than five runs, or none with a similar number of cores."
    )
    price: EstimateView | None = Field(default=None, description="Price for a run time of `p50_s`.")


class ArrayPlanView(Wire):
    """How many indices of an array would start if it were submitted now."""

    count: int = Field(description="Number of indices.")
    at_once: int | None = Field(description="Maximum of active indices; null: any number.")
    starts: int = Field(description="Indices that would start now, of the first 1,000; the others would wait.")
    reason: ReasonView | None = Field(description="Why the next one would wait; null if all would start.")


class PlanView(Wire):
    """The plan for an application if it were submitted now."""

    starts_now: bool
    array: ArrayPlanView | None = Field(default=None, description="The plan for `indices`; null without.")
    reason: ReasonView | None = Field(default=None, description="Why it would wait.")
    own_use: OwnUseView | None = Field(
        default=None, description="Your own executions that hold what it lacks; null if others do."
    )
    ahead: int = Field(default=0, description="Number of executions before it in the queue.")
    change: ChangeView | None = Field(default=None, description="The smallest change that would start it now.")
    change_sought: bool = Field(
        default=True,
        description="False if not all smaller changes were tried, because the queue is very long or the search was "
        "cut (`cut_after_steps`).",
    )
    cut_after_steps: int | None = Field(
        default=None,
        description="Steps of the scheduler after which the search for a smaller change, or the forecast, was cut; "
        "null if both are whole.",
    )
    instances: list[InstancesView] = Field(
        default=[], description="Instances that it would start with, of each component with elastic ones."
    )
    fewer: ReasonView | None = Field(
        default=None, description="Why it would start with fewer than the preferred instances; null if it would not."
    )
    forecast: ForecastView | None = Field(default=None, description="When the application would start and end.")
    demand: DemandView
    price: EstimateView | None = Field(default=None, description="Price; null without a price list.")
    deadline: DeadlineOutlookView | None = Field(
        default=None, description="Whether it would meet its deadline; null without one."
    )
    promise: PromiseOutlookView | None = Field(
        default=None, description="The promise that it would get; null if it requests none."
    )
    run_times: list[RunTimeView] = Field(
        default=[],
        description="Run time with none of its elastic services, 1, 2, 4 and so on, and all of them; "
        "empty before you have run an application of this name.",
    )
    notes: list[str] = Field(default=[])


class ConvertRequest(Wire):
    """A description of any format version."""

    document: Any


class ConvertResponse(Wire):
    """The description in version 4, and notes on what could not be converted."""

    document: dict[str, Any]
    notes: list[str]


class CatalogueEntryView(Wire):
    """A description of the catalogue."""

    id: str
    title: str
    category: str
    summary: str
    document: dict[str, Any]
    form: dict[str, Any] = Field(default={})
    icon: DescriptionIcon | None = Field(default=None, description="Icon that pages show beside the entry.")
    tags: list[str] = Field(default=[], description="Words to filter by.")
    script: str | None = Field(default=None, description="Suffix of the scripts that its form runs, such as `.py`.")
    unavailable: str | None = Field(default=None, description="Why it cannot run on this installation.")
    remedy: str | None = Field(default=None, description="How to make it run here; commands are in backticks.")
    installs: str | None = Field(default=None, description="What its first launch installs, and its size.")


class CatalogueList(Wire):
    """The catalogue."""

    entries: list[CatalogueEntryView]


def _scalar(given: object) -> object:
    if not isinstance(given, str | int | float):
        raise PydanticCustomError("scalar_type", "must be a string, a number, or true or false")
    return given


class FillRequest(Wire):
    """Values of the form of a catalogue entry, by field; missing fields keep their defaults."""

    values: dict[str, Annotated[str | int | float | bool, BeforeValidator(_scalar)]] = Field(default={}, max_length=100)


class FillResponse(Wire):
    """The description of the entry, filled in with these values."""

    document: dict[str, Any]
