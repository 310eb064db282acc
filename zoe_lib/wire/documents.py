"""Descriptions and the catalogue."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from zoe_lib.wire.base import Numbers, Wire
from zoe_lib.wire.executions import ChangeView, ForecastView, ReasonView


class ValidateRequest(Wire):
    """A description to be checked; nothing is submitted."""

    application: dict[str, Any]


class ValidateResponse(Wire):
    """The description with its frameworks expanded, and whether it could ever run here."""

    expanded: dict[str, Any]
    never_fits: ReasonView | None = None
    notes: list[str] = Field(default=[])


class PlanRequest(Numbers):
    """An application that might be submitted; nothing is."""

    application: dict[str, Any]
    priority: int | None = Field(default=None, ge=-1000, le=1000, description="Default: the application's.")


class AmountView(Wire):
    """Services, and what they reserve together."""

    services: int
    cores: float
    memory_bytes: int


class DemandView(Wire):
    """What an application takes, of the cluster and of its tenant's quota."""

    core: AmountView = Field(description="Of the essential services.")
    elastic: AmountView = Field(description="At most, beyond the essential services.")
    time_limit_s: float | None
    executions: int = Field(description="Of the tenant, waiting or running now.")
    executions_max: int | None = Field(description="The tenant's quota; null: any number.")
    executions_of_user: int = Field(description="Of the user in the tenant, waiting or running now.")
    executions_of_user_max: int | None = Field(description="The quota of each user of the tenant; null: any number.")


class PlanView(Wire):
    """What would become of an application if it were submitted now."""

    starts_now: bool
    reason: ReasonView | None = Field(default=None, description="Why it would wait.")
    ahead: int = Field(default=0, description="How many executions would be looked at before it.")
    change: ChangeView | None = Field(default=None, description="The smallest change that would start it now.")
    change_sought: bool = Field(
        default=True,
        description="False when not all smaller changes were tried: a very long queue, or too long a search.",
    )
    forecast: ForecastView | None = Field(default=None, description="When it would start and end.")
    demand: DemandView
    notes: list[str] = Field(default=[])


class ConvertRequest(Wire):
    """A description of any format version."""

    document: Any


class ConvertResponse(Wire):
    """The same as version 4, and what could not carry over."""

    document: dict[str, Any]
    notes: list[str]


class CatalogueEntryView(Wire):
    """A description that is there to be used."""

    id: str
    title: str
    category: str
    summary: str
    document: dict[str, Any]
    form: dict[str, Any] = Field(default={})


class CatalogueList(Wire):
    """The catalogue."""

    entries: list[CatalogueEntryView]


def _scalar(given: object) -> object:
    if not isinstance(given, str | int | float):
        raise PydanticCustomError("scalar_type", "must be a text, a number, or true or false")
    return given


class FillRequest(Wire):
    """What was put into the form of a catalogue entry, by field; what is not there stays as it is."""

    values: dict[str, Annotated[str | int | float | bool, BeforeValidator(_scalar)]] = Field(default={}, max_length=100)


class FillResponse(Wire):
    """The entry's description with the values in their places."""

    document: dict[str, Any]
