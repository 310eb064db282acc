"""Texts about progress: in lists, and for one execution."""

from __future__ import annotations

from zoe_cli.units import duration
from zoe_client.quick.plain import Progress, Summary


def progress_cell(execution: Summary) -> str:
    """Return the finished share; empty for an older server."""
    progress = execution.get("progress")
    return "" if progress is None or progress["share"] is None else percent(progress["share"])


def progress_words(progress: Progress) -> str:
    """Return all sentences about the progress of an execution."""
    words = [] if progress["share"] is None else [percent(progress["share"])]
    words += [progress["text"]] if progress["text"] else []
    words += _remaining_time(progress)
    words += [f"progress not understood: {progress['problem']}"] if progress["problem"] else []
    return "; ".join(words) or "nothing yet"


def percent(share: float) -> str:
    """Return a share in percent; 100 % only after the end."""
    return f"{int(share * 100)} %"


def _remaining_time(progress: Progress) -> list[str]:
    """Return the remaining time with its spread, if known."""
    rest_s, low_s, high_s = progress["remaining_s"], progress["remaining_low_s"], progress["remaining_high_s"]
    if rest_s is None or low_s is None:
        return []
    return [f"about {duration(rest_s)} left ({duration(low_s)} to {'unknown' if high_s is None else duration(high_s)})"]
