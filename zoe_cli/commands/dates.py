"""Dates as people write them."""

from __future__ import annotations

from datetime import datetime

import typer


def date(text: str) -> float:
    """Seconds since the epoch of a date, or of a date and a time of day, on the clock of this machine."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date such as 2026-11-01 or '2026-11-01 08:30'") from None
