"""Add requests for promises to descriptions."""

from __future__ import annotations

from typing import Any


def with_promise_request(
    application: dict[str, Any], confidence: float | None = None, budget: float | None = None
) -> dict[str, Any]:
    """Return the description with a request for a promise to end by its deadline; None keeps a field."""
    given = {"confidence": confidence, "budget": budget}
    wished = {
        **(application.get("promise") or {}),
        **{name: entry for name, entry in given.items() if entry is not None},
    }
    return {**application, "promise": wished}


def with_run_time(application: dict[str, Any], run_time_s: float | None) -> dict[str, Any]:
    """Return the description with its expected run time; None keeps it."""
    return application if run_time_s is None else {**application, "size": {"run_time_s": run_time_s}}


def finish_time(
    finish_by: str | None, deadline: str | None, confidence: float | None, budget: float | None
) -> str | None:
    """Return the time by which it should end, as a promise or a deadline; ValueError for options that exclude each
    other, TypeError for a time that is not a text.
    """
    as_text("finish_by", finish_by)
    as_text("deadline", deadline)
    if finish_by is not None and deadline is not None:
        raise ValueError("give deadline or finish_by, not both")
    if finish_by is None and (confidence is not None or budget is not None):
        raise ValueError("confidence and budget need finish_by")
    return deadline if finish_by is None else finish_by


def as_text(name: str, given: object) -> None:
    """Raise TypeError if a time is given that is not a string."""
    if given is not None and not isinstance(given, str):
        kind = type(given).__name__
        raise TypeError(f"{name} is a string such as '+3h', '08:00' or '2026-12-01T08:00+01:00', not {kind}")
