"""--finish-by: promises that an execution ends by a time, and alternative offers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoe_cli.commands.words.dates import duration
from zoe_cli.commands.words.promise_words import promise_lines
from zoe_cli.output import note
from zoe_client.quick.plain import Conditions, Execution
from zoe_client.vocabulary import TERMINAL_STATES

if TYPE_CHECKING:
    from zoe_client.quick.quick import QuickClient

FinishBy = Annotated[
    str | None,
    typer.Option(
        "--finish-by",
        metavar="TIME",
        help="Run it only if promised to end by then: +3h, 08:00 (the next), or a date. Else Zoe makes offers.",
    ),
]
Confidence = Annotated[
    str | None, typer.Option(metavar="SHARE", help="How sure the promise must be: 90% or 0.9 [90%].")
]
Budget = Annotated[
    float | None,
    typer.Option(min=0.0, help="Maximum price, in the currency of the price list (else core-hours)."),
]
RunTime = Annotated[
    str | None,
    typer.Option(
        "--run-time",
        metavar="DURATION",
        help="Expected run time, such as 90m. A promise needs it until this program has run here once.",
    ),
]
_DECIDED_S = 15.0
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class PromiseOptions:
    """Promise options as given."""

    finish_by: str | None = None
    confidence: str | None = None
    budget: float | None = None
    run_time: str | None = None

    def put_in(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a description that declares its run time if given, and requests a promise if --finish-by is given."""
        document = with_run_time(document, self.run_time)
        if self.finish_by is None:
            if self.confidence is not None or self.budget is not None:
                raise typer.BadParameter("--confidence and --budget need --finish-by")
            return document
        wish: dict[str, Any] = dict(document.get("promise") or {})
        if self.confidence is not None:
            wish["confidence"] = share_of(self.confidence)
        if self.budget is not None:
            wish["budget"] = checked_budget(self.budget)
        return {**document, "promise": wish}


def with_run_time(document: dict[str, Any], text: str | None) -> dict[str, Any]:
    """Return a description that declares the expected run time, if one is given."""
    if text is None:
        return document
    seconds = duration(text)
    if seconds <= 0:
        raise typer.BadParameter("the run time must be more than 0 s", param_hint="--run-time")
    return {**document, "size": {"run_time_s": seconds}}


def checked_budget(budget: float) -> float:
    """Return a valid budget; BadParameter if it is not a price."""
    if not 0 < budget < math.inf:
        raise typer.BadParameter("a budget must be a number above 0")
    return budget


def share_of(text: str) -> float:
    """Return a confidence given in percent or as a fraction."""
    number, percent = (text[:-1], 100) if text.endswith("%") else (text, 1)
    try:
        share = float(number) / percent
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a share: write 90% or 0.9") from None
    if not 0.5 <= share <= 0.99:
        raise typer.BadParameter("a confidence must be from 50% to 99%")
    return share


def wait_for_decision(client: QuickClient, execution: Execution) -> Execution:
    """Return the execution once its promise is decided, or after some seconds; print the decision."""
    until_s = time.monotonic() + _DECIDED_S
    while _is_undecided(execution) and time.monotonic() < until_s:
        time.sleep(_LOOK_S)
        execution = client.execution(execution["id"])
    for line in promise_lines(execution):
        note(line)
    if execution["state"] == "submitted" and not execution.get("promise") and not execution.get("offers"):
        later = "" if _decides_now(execution["conditions"]) else " while it is held or runs after others"
        note(f"The promise is not decided yet{later}: zoe show {execution['id']}")
    return execution


def _decides_now(conditions: Conditions | None) -> bool:
    """Return whether the promise is decided now: a time to begin is part of the decision."""
    return conditions is None or (conditions["held"] is None and not conditions["after"])


def is_refused(execution: Execution) -> bool:
    """Return whether a requested promise of an execution was refused."""
    return execution.get("promise") is None and bool(execution.get("offers") or execution["state"] in TERMINAL_STATES)


def _is_undecided(execution: Execution) -> bool:
    waits = execution["state"] == "submitted" and _decides_now(execution["conditions"])
    return waits and execution.get("promise") is None and execution.get("offers") is None
