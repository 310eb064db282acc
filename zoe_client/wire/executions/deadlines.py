"""Deadlines: requests, the status of executions, and forecasts."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import DeadlineCause, DeadlineOutlook, DeadlineStatus
from zoe_client.wire.base import Wire
from zoe_client.words.times import TEXT_MAX, BadTime, read_time

DEADLINE = (
    "Time by which it should end, instead of `deadline_s`: `+3h`, `+1d2h`, `08:00 Europe/Paris` (the next one), "
    "or ISO 8601 with an offset or a zone."
)


def _readable(text: str) -> str:
    try:
        read_time(text, time.time(), zone_needed=True)
    except BadTime as error:
        raise PydanticCustomError("deadline", "{why}", {"why": str(error)}) from None
    return text


DeadlineText = Annotated[str, Field(min_length=1, max_length=TEXT_MAX), AfterValidator(_readable)]


FinishByText = Annotated[
    str,
    Field(
        max_length=TEXT_MAX,
        description="Run it if Zoe promises that all of it ends by then: `+3h`, `08:00 Europe/Paris` or ISO 8601.",
    ),
]
ConfidenceShare = Annotated[float, Field(ge=0.5, le=0.99, description="Confidence of the promise (default: 0.9).")]
PromiseBudget = Annotated[
    float, Field(gt=0, lt=1e12, description="Maximum cost, as `budget` of a description with a promise.")
]


def check_one_deadline(text: str | None, after_s: float | None) -> None:
    """Raise PydanticCustomError if a deadline is given in both ways."""
    if text is not None and after_s is not None:
        raise PydanticCustomError("deadline", "give deadline or deadline_s, not both")


class DeadlineView(Wire):
    """Status of an execution against its deadline.

    status: null while no delay is known, and for an execution that failed or was cancelled before the deadline.
    """

    at_s: float
    status: DeadlineStatus | None
    cause: DeadlineCause | None = Field(default=None, description="Why it was missed.")
    costs_s: dict[DeadlineCause, float] = Field(default={}, description="Seconds lost, by cause.")
    expected_run_s: float | None = Field(default=None, description="Expected run time; null: unknown.")


class DeadlineOutlookView(Wire):
    """Whether an execution would meet its deadline if it were submitted now."""

    at_s: float
    text: str = Field(description="The deadline with its date, its zone and UTC.")
    outlook: DeadlineOutlook = Field(
        description="`met`: nine of ten such forecasts hold; `at_risk`: half of them do; `cannot_be_met`: fewer; "
        "`unknown`: its run time or its start is not known."
    )
    end_p50_s: float | None = Field(description="End that half of all forecasts meet; null: unknown.")
    end_p90_s: float | None = Field(description="End that nine of ten forecasts meet; null: unknown.")
    run_s: float | None = Field(description="Expected run time; null: unknown.")
    run_time_source: str | None = Field(
        default=None, description="Source of `run_s`: `declared`, `past_runs`, `time_limit` or `unknown`."
    )
    note: str = Field(default="", description="How an ambiguous or skipped local time was read; else empty.")
    sentence: str
