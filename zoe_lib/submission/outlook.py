"""Predict whether an execution submitted now would meet its deadline, as a value and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.vocabulary import DeadlineOutlook
from zoe_client.wire import DeadlineOutlookView
from zoe_client.words.times import GivenTime, in_full
from zoe_lib.domain.applications.application import Application

_LIMIT, _UNKNOWN = "time_limit", "unknown"
_SOURCES = {"declared": "its declared run time", "past_runs": "the run time of its past runs"}
_UNKNOWN_RUN = "its run time is not known: this program has not run here before; give its expected run time"


@dataclass(frozen=True, slots=True)
class _End:
    """The master's forecast of the end; times in seconds since the epoch."""

    run_s: float | None
    source: str
    p50_s: float | None = None
    p90_s: float | None = None


def outlook_view(
    given: GivenTime, end: Mapping[str, Any] | None, application: Application, now_s: float
) -> DeadlineOutlookView:
    """Return the prediction. `end`: the master's forecast of the end (`EndForecast` as JSON); None: it has none."""
    declared_s = application.expected_run_s
    found = _End(declared_s, "declared" if declared_s else _UNKNOWN)
    if end is not None:
        found = _End(end["run_s"], end["source"], end["end_p50_s"], end["end_p90_s"])
    outlook = outlook_of(given.at_s, now_s, found.run_s, found.source, found.p50_s, found.p90_s)
    return DeadlineOutlookView(
        at_s=given.at_s,
        text=given.in_full,
        outlook=outlook,
        end_p50_s=found.p50_s,
        end_p90_s=found.p90_s,
        run_s=found.run_s,
        run_time_source=found.source,
        note=given.note,
        sentence=_sentence(given, outlook, found, now_s),
    )


def outlook_of(
    deadline_s: float, now_s: float, run_s: float | None, source: str, p50_s: float | None, p90_s: float | None
) -> DeadlineOutlook:
    """Return whether it is expected to end by the deadline; times in seconds since the epoch.

    A time limit is only the latest end, not the expected one. While the start is unknown, it certainly does not end
    earlier than if it started now.
    """
    if run_s is None:
        return DeadlineOutlook.UNKNOWN
    if source == _LIMIT:
        return DeadlineOutlook.MET if p90_s is not None and p90_s <= deadline_s else DeadlineOutlook.UNKNOWN
    if p50_s is None or p90_s is None:
        return DeadlineOutlook.CANNOT_BE_MET if now_s + run_s > deadline_s else DeadlineOutlook.UNKNOWN
    if p50_s > deadline_s:
        return DeadlineOutlook.CANNOT_BE_MET
    return DeadlineOutlook.AT_RISK if p90_s > deadline_s else DeadlineOutlook.MET


def _sentence(given: GivenTime, outlook: DeadlineOutlook, end: _End, now_s: float) -> str:
    name, known = f"deadline {given.in_full}", end.run_s is not None and end.source != _LIMIT
    if outlook is DeadlineOutlook.UNKNOWN:
        why = "when it starts is not known" if known else _UNKNOWN_RUN
        return f"Whether the {name} can be met is not known: {why}."
    basis = (
        f", by {_SOURCES[end.source]} of {round(end.run_s or 0.0, 1):g} s"
        if known
        else ", if it runs until its time limit"
    )
    if end.p50_s is None or end.p90_s is None:
        return f"The {name} cannot be met: earliest end {in_full(now_s + (end.run_s or 0.0), given.zone)}{basis}."
    ends = f"p50 {in_full(end.p50_s, given.zone)} / p90 {in_full(end.p90_s, given.zone)}{basis}"
    if outlook is DeadlineOutlook.CANNOT_BE_MET:
        return f"The {name} cannot be met: earliest end {ends}."
    if outlook is DeadlineOutlook.AT_RISK:
        return f"The {name} is at risk: expected end {ends}."
    return f"The {name} is expected to be met: end {ends}."
