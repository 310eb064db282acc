"""Descriptions and the catalogue."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from zoe_lib.wire.base import Wire
from zoe_lib.wire.executions import ChangeView, ForecastView, ReasonView


class ValidateRequest(Wire):
    """A description to be checked; nothing is submitted."""

    application: dict[str, Any]


class ValidateResponse(Wire):
    """The description with its frameworks expanded, and whether it could ever run here."""

    expanded: dict[str, Any]
    never_fits: ReasonView | None = None
    notes: list[str] = Field(default=[])


class PlanRequest(Wire):
    """An application that might be submitted; nothing is."""

    application: dict[str, Any]
    priority: int | None = Field(default=None, description="Default: the application's.")


class PlanView(Wire):
    """What would become of an application if it were submitted now."""

    starts_now: bool
    reason: ReasonView | None = Field(default=None, description="Why it would wait.")
    ahead: int = Field(default=0, description="How many executions would be looked at before it.")
    change: ChangeView | None = Field(default=None, description="The smallest change that would start it now.")
    forecast: ForecastView | None = Field(default=None, description="When it would start and end.")
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
