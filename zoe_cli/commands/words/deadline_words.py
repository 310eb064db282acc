"""Texts about deadlines: in lists, and for one execution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from zoe_cli.units import duration
from zoe_client.quick.plain import Array, Deadline, Summary
from zoe_client.vocabulary import TERMINAL_STATES, DeadlineCause, DeadlineStatus, ExecutionState, ReasonCode
from zoe_client.words.times import in_full

CAUSES = {
    DeadlineCause.NOT_BEGUN: "its array began it after the deadline",
    DeadlineCause.TOO_SHORT: "there was less time than the run takes",
    DeadlineCause.INPUT_LATE: "it entered the queue late: it ran after others, had a time to begin, or was held",
    DeadlineCause.NODES_LOST: "attempts were lost with their nodes, or by other failures of the platform",
    DeadlineCause.ATTEMPTS_FAILED: "attempts failed, or were requeued",
    DeadlineCause.STORE: "it waited for its bandwidth of the object store, or ran without it",
    DeadlineCause.QUEUE: "it waited in the queue",
    DeadlineCause.SLOWER: "it ran for longer than expected",
    DeadlineCause.RUN_TIME_UNKNOWN: "no run time was known, and it waited for less time than it ran",
}
_LOST = {
    DeadlineCause.INPUT_LATE: "before the queue",
    DeadlineCause.NODES_LOST: "in lost attempts",
    DeadlineCause.ATTEMPTS_FAILED: "in failed attempts",
    DeadlineCause.STORE: "without its bandwidth",
    DeadlineCause.QUEUE: "in the queue",
    DeadlineCause.SLOWER: "more than expected",
}


def deadline_cell(execution: Summary) -> str:
    """Return the state of an execution's deadline in a few letters; empty for an older server."""
    deadline, over = execution.get("deadline"), execution["state"] in TERMINAL_STATES
    if deadline is None:
        return ""
    if deadline["status"] == DeadlineStatus.MISSED:
        return f"missed ({deadline['cause']})"
    if deadline["status"] == DeadlineStatus.MET or over:
        return deadline["status"] or ""
    left = _time_left_text(deadline["at_s"] - time.time())
    return f"at risk ({left})" if deadline["status"] == DeadlineStatus.AT_RISK else left


def array_deadline_cell(array: Array) -> str:
    """Return the state of an array's deadline: missed if indices had not ended by then; nothing for a cancelled array,
    like an execution, and for one that waits without a promise once the requested time has passed.
    """
    deadline_s = array["deadline_s"]
    if deadline_s is None or array["state"] == ExecutionState.CANCELLED:
        return ""
    ended_s, succeeded = array["ended_at_s"], array["state"] == ExecutionState.SUCCEEDED
    reason = array["reason"]
    if reason is not None and reason["code"] == ReasonCode.PROMISE:
        return _time_left_text(deadline_s - time.time())
    if (time.time() if ended_s is None else ended_s) > deadline_s:
        return "missed"
    return "met" if succeeded else _time_left_text(deadline_s - time.time()) if ended_s is None else ""


def _time_left_text(left_s: float) -> str:
    """Return the time to a deadline; with only later offers left, the requested deadline may have passed."""
    return f"in {duration(left_s)}" if left_s > 0 else "passed"


def deadline_words(deadline: Deadline) -> str:
    """Return all sentences about the deadline of an execution."""
    at = in_full(deadline["at_s"])
    if deadline["status"] == DeadlineStatus.MISSED:
        return f"{at}; missed: {cause_words(deadline['cause'])}{costs_words(deadline['costs_s'])}"
    status = {None: "", DeadlineStatus.MET: "; met", DeadlineStatus.AT_RISK: "; at risk: it may end later"}
    return at + status[None if deadline["status"] is None else DeadlineStatus(deadline["status"])]


def cause_words(cause: str | None) -> str:
    """Return a cause as part of a sentence; unchanged if it is from a later version."""
    return next((text for known, text in CAUSES.items() if known == cause), str(cause))


def costs_words(costs_s: Mapping[Any, float]) -> str:
    """Return the causes of lost time, the largest first; empty if unknown."""
    ordered = sorted(costs_s.items(), key=lambda item: -item[1])
    parts = [f"{duration(seconds)} {_LOST.get(cause, cause)}" for cause, seconds in ordered]
    return f" ({', '.join(parts)})" if parts else ""
