"""Options of `zoe schedule add`, and the request that they make."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoe_cli.commands.watching.promising import checked_budget, share_of
from zoe_cli.commands.words.dates import coming
from zoe_cli.commands.words.dates import duration as seconds_of
from zoe_client.vocabulary import MissedPolicy, OverlapPolicy

if TYPE_CHECKING:
    from zoe_client.wire import ScheduleRequest

_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?", re.ASCII)

Times = Annotated[
    str,
    typer.Argument(
        metavar="TIMES", help="Cron expression: minute, hour, day of the month, month, day of the week; or @daily."
    ),
]
What = Annotated[
    str, typer.Argument(metavar="APP|FILE", help="Stored application, or a file with a description or a workflow.")
]
Zone = Annotated[str | None, typer.Option(help="Time zone of the times, such as Europe/Paris [UTC].")]
RunName = Annotated[str | None, typer.Option("--name", help="Name of its runs.")]
Priority = Annotated[int | None, typer.Option(help="Priority of its runs.")]
RunDeadline = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="When each run should have ended: +3h from its submission, or 08:00 in the zone."
    ),
]
Ahead = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION", help="Submit each run this long before its time, such as 6h; it begins at its time."
    ),
]
Missed = Annotated[
    MissedPolicy, typer.Option(help="Times that passed while no master ran: skip them, run the latest, or all.")
]
Overlap = Annotated[
    OverlapPolicy,
    typer.Option(help="While an earlier run goes on: allow both, skip the time, queue it after, or replace it."),
]
Jitter = Annotated[str | None, typer.Option(metavar="DURATION", help="Delay each run by up to this time, such as 10m.")]
End = Annotated[str | None, typer.Option(metavar="TIME", help="Last time that may run: 2026-12-31, +30d.")]


@dataclass(frozen=True, slots=True)
class RunWishes:
    """Options of the runs as they are given; None: not given."""

    version: int | None
    run_name: str | None
    priority: int | None
    deadline: str | None
    finish_by: str | None
    confidence: str | None
    budget: float | None
    indices: str | None
    ahead: str | None

    def fields(self, zone: str) -> dict[str, Any]:
        """Return the fields of a request; times of day are in the zone. BadParameter."""
        from zoe_client.wire.batch.schedules import AHEAD_S_MAX

        found = {
            "version": self.version,
            "run_name": self.run_name,
            "priority": self.priority,
            "deadline": _in_zone(self.deadline, zone),
            "finish_by": _in_zone(self.finish_by, zone),
            "confidence": None if self.confidence is None else share_of(self.confidence),
            "budget": None if self.budget is None else checked_budget(self.budget),
            "indices": self.indices,
            "ahead_s": None if self.ahead is None else seconds_of(self.ahead, AHEAD_S_MAX),
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """Options of a schedule as they are given; None: not given."""

    zone: str
    runs: RunWishes
    missed: MissedPolicy
    overlap: OverlapPolicy
    jitter: str | None
    end: str | None

    def request(self, expression: str, what: dict[str, Any]) -> ScheduleRequest:
        """Return the request. what: its application or document, and parameters; BadParameter."""
        from zoe_client.wire import ScheduleRequest

        return ScheduleRequest(
            expression=expression,
            zone=self.zone,
            missed=self.missed,
            overlap=self.overlap,
            jitter_s=0.0 if self.jitter is None else seconds_of(self.jitter),
            end_at_s=None if self.end is None else coming(self.end),
            **what,
            **self.runs.fields(self.zone),
        )


def _in_zone(deadline: str | None, zone: str) -> str | None:
    """Return a deadline for each run; a time of day without a zone is in the schedule's zone."""
    return f"{deadline.strip()} {zone}" if deadline is not None and _CLOCK.fullmatch(deadline.strip()) else deadline
