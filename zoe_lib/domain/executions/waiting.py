"""Waiting time of an execution by cause: every second has one, computed from its journal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from zoe_client.vocabulary import WaitCause
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, reason_of
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.domain.values.reasons import Reason, ReasonCode

__all__ = ["CauseShare", "CauseSpan", "WaitCause", "cause_of", "shares", "spans"]

_PERCENT = 100


_BY_REASON = {
    ReasonCode.NO_RESOURCES: WaitCause.CLUSTER_FULL,
    ReasonCode.MAKING_ROOM: WaitCause.MAKING_ROOM,
    ReasonCode.BEHIND_IN_QUEUE: WaitCause.OTHERS_AHEAD,
    ReasonCode.NEVER_FITS: WaitCause.NEVER_FITS,
    ReasonCode.NO_NODES: WaitCause.NODES_AWAY,
    ReasonCode.NODES_AWAY: WaitCause.NODES_AWAY,
    ReasonCode.WINDOW_AHEAD: WaitCause.NODES_AWAY,
    ReasonCode.FOREIGN_USE: WaitCause.FOREIGN_USE,
    ReasonCode.RETRY_BACKOFF: WaitCause.OWN_FAILURE,
    ReasonCode.STORAGE_BANDWIDTH: WaitCause.STORAGE,
    ReasonCode.STORAGE_REFUSED: WaitCause.STORAGE,
    ReasonCode.TENANT_LIMIT: WaitCause.QUOTA,
    ReasonCode.USER_LIMIT: WaitCause.QUOTA,
    ReasonCode.IMAGE_PULLING: WaitCause.IMAGE,
    ReasonCode.LOCATING_INPUTS: WaitCause.STORAGE,
    ReasonCode.SCAN_LIMIT: WaitCause.POLICY,
    ReasonCode.HELD: WaitCause.CONDITIONS,
    ReasonCode.BEGIN_TIME: WaitCause.CONDITIONS,
    ReasonCode.PROMISE: WaitCause.CONDITIONS,
    ReasonCode.BOOKED: WaitCause.OTHERS_AHEAD,
    ReasonCode.DEPENDENCIES: WaitCause.CONDITIONS,
    ReasonCode.CREDENTIAL: WaitCause.STORAGE,
    ReasonCode.PROLOGUE: WaitCause.MASTER,
}

_WHY_AGAIN = {
    Cause.STORAGE_UNAVAILABLE: WaitCause.STORAGE,
    Cause.REQUEUED: WaitCause.MASTER,
    Cause.STOPPED: WaitCause.MASTER,
}
_OFFERED = "Its offers waited for an answer."
_NEXT_ATTEMPT = "It was waiting for its next attempt."
_BETWEEN_ATTEMPTS = {Cause.STOPPED: "Zoe was stopped, which ended it; it was waiting to run again."}


@value(frozen=True, slots=True)
class CauseSpan:
    """A period of waiting with one cause, in seconds since the epoch; `sentence` is the reason at that time, and
    `condition` its code if the cause is conditions.
    """

    cause: WaitCause
    since_s: float
    until_s: float
    sentence: str = ""
    condition: ReasonCode | None = None


@value(frozen=True, slots=True)
class CauseShare:
    """Total time of one cause, or one condition: seconds, and whole percent; all percentages add up to 100."""

    cause: WaitCause
    seconds: float
    percent: int
    condition: ReasonCode | None = None


def spans(events: Iterable[ev.Event], now_s: float) -> list[CauseSpan]:
    """Return all waiting of an execution so far, in order and without gaps between submission (or
    requeue) and start."""
    closed: list[CauseSpan] = []
    open_span: CauseSpan | None = None
    conditions = NO_CONDITIONS
    why_again, between = WaitCause.OWN_FAILURE, _NEXT_ATTEMPT
    for event in _with_late_holds(events):
        conditions = _conditions_after(event, conditions)
        following = open_span
        match event:
            case ev.Submitted():
                following = _by_conditions(conditions, event.at_s)
            case ev.PromiseOffered() if event.offers.offers:
                following = CauseSpan(WaitCause.CONDITIONS, event.at_s, event.at_s, _OFFERED, ReasonCode.PROMISE)
            case ev.Queued() | ev.Promised() if open_span is not None and _ends_conditions(event, open_span):
                following = _by_conditions(NO_CONDITIONS, event.at_s)
            case ev.Modified(after=ev.Requested(begin_at_s=float() as begin_at_s)) if begin_at_s > event.at_s:
                following = _by_conditions(conditions, event.at_s)
            case ev.Held():
                following = _by_conditions(conditions, event.at_s)
            case ev.Released() | ev.DependencyEnded() if open_span is not None and _is_of_conditions(open_span):
                following = _by_conditions(conditions, event.at_s)
            case ev.Requeued():
                following = CauseSpan(why_again, event.at_s, event.at_s, between)
            case ev.ReasonChanged():
                code = event.reason.code
                following = _span(cause_of(event.reason), event.at_s, event.reason.sentence, code)
            case ev.Stopping():
                following = None
                why_again = _WHY_AGAIN.get(event.cause, WaitCause.OWN_FAILURE)
                between = _BETWEEN_ATTEMPTS.get(event.cause, _NEXT_ATTEMPT)
            case ev.StartPlanned() | ev.Refused():
                following = None
        if following is not open_span:
            closed += _ended_at(open_span, event.at_s)
            open_span = following
    return closed + _ended_at(open_span, now_s)


def _conditions_after(event: ev.Event, before: Conditions) -> Conditions:
    """Return the conditions of an execution after an event."""
    match event:
        case ev.Submitted(conditions=Conditions() as conditions):
            return conditions
        case ev.Held():
            return changed(before, held=event.by)
        case ev.Released():
            return changed(before, held=None, after=tuple(one for one in before.after if one.met is not False))
        case ev.DependencyEnded():
            return before.with_ended(event.on, event.state)
        case ev.Modified():
            return changed(before, begin_at_s=event.after.begin_at_s)
    return before


def _by_conditions(conditions: Conditions, at_s: float) -> CauseSpan:
    """Return the waiting that begins now under these conditions; for the master, if all are met."""
    reason = reason_of(conditions, at_s)
    if reason is None:
        return CauseSpan(WaitCause.MASTER, at_s, at_s, "The master had not considered it yet.")
    return _span(WaitCause.CONDITIONS, at_s, reason.sentence, reason.code)


def _span(cause: WaitCause, at_s: float, sentence: str, code: ReasonCode) -> CauseSpan:
    return CauseSpan(cause, at_s, at_s, sentence, code if cause is WaitCause.CONDITIONS else None)


def _is_of_conditions(waiting: CauseSpan) -> bool:
    return waiting.cause is WaitCause.CONDITIONS and waiting.sentence != _OFFERED


def _ends_conditions(event: ev.Event, waiting: CauseSpan) -> bool:
    """Return whether what its user was to do, or what it was to run after, no longer keeps it from the queue."""
    return waiting.sentence == _OFFERED or (isinstance(event, ev.Queued) and waiting.cause is WaitCause.CONDITIONS)


def _with_late_holds(events: Iterable[ev.Event]) -> Iterator[ev.Event]:
    """Yield the events; a hold during a requeue begins when the execution waits again."""
    held: ev.Held | None = None
    stops = False
    for event in events:
        match event:
            case ev.Stopping():
                stops = True
            case ev.Held() if stops:
                held = event
                continue
            case ev.Released() if stops:
                held = None
        yield event
        if isinstance(event, ev.Requeued):
            stops = False
            if held is not None:
                yield replace(held, at_s=event.at_s)
                held = None


def shares(waited: Iterable[CauseSpan]) -> list[CauseShare]:
    """Return the causes, longest first. Percents are rounded by largest remainder, so that they add up."""
    seconds: dict[tuple[WaitCause, ReasonCode | None], float] = defaultdict(float)
    for span in waited:
        seconds[span.cause, span.condition] += span.until_s - span.since_s
    total_s = sum(seconds.values())
    if total_s <= 0:
        return []
    exact = {kind: _PERCENT * each_s / total_s for kind, each_s in seconds.items()}
    percents = {kind: int(value) for kind, value in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: (percents[kind] - exact[kind], str(kind)))
    for kind in by_remainder[: _PERCENT - sum(percents.values())]:
        percents[kind] += 1
    ordered = sorted(seconds, key=lambda kind: (-seconds[kind], str(kind)))
    return [CauseShare(kind[0], seconds[kind], percents[kind], kind[1]) for kind in ordered]


def cause_of(reason: Reason) -> WaitCause:
    """Return the cause behind a reason. A full cluster counts as full even if nodes are away that it does not need."""
    return _BY_REASON[reason.code]


def _ended_at(span: CauseSpan | None, until_s: float) -> list[CauseSpan]:
    if span is None or until_s <= span.since_s:
        return []
    return [replace(span, until_s=until_s)]
