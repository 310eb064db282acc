"""Dates as people write them."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

import typer

from zoe_client.vocabulary import SECONDS_MAX

_SPAN = re.compile(r"(\d{1,18})([smhdw])", re.ASCII)
_DIGITS_MAX = 18
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def now_s() -> float:
    """Return the present time, as seconds since the epoch."""
    return time.time()


def since(text: str) -> float:
    """Return a time before now such as 90m, 12h or 3d, or a date, as seconds since the epoch."""
    ago_s = _span_s(text)
    return date(text) if ago_s is None else max(time.time() - ago_s, 0.0)


def coming(text: str) -> float:
    """Return a time to come, as seconds since the epoch: +3h, 08:00 (the next one in this machine's time zone), or a
    date.
    """
    text = text.strip()
    if text.startswith("+"):
        return now_s() + duration(text[1:])
    found = _CLOCK.fullmatch(text)
    if found is None:
        return date(text)
    today = datetime.fromtimestamp(now_s()).replace(second=0, microsecond=0)  # noqa: DTZ006 - of this machine's clock
    try:
        today = today.replace(hour=int(found[1]), minute=int(found[2]))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a time of day; use 08:00") from None
    # Days are added before the zone is considered, so that it is the same time on the clock after a change of it.
    at_s = today.timestamp()
    return at_s if at_s > now_s() else (today + timedelta(days=1)).timestamp()


def duration(text: str) -> float:
    """Return a duration such as 90m, 12h or 3d, or seconds, in seconds."""
    found_s = _span_s(text)
    if found_s is None and text.strip().isascii() and text.strip().isdecimal():
        found_s = int(text[:_DIGITS_MAX])
    if found_s is not None and found_s > SECONDS_MAX:
        raise typer.BadParameter(f"{text!r} is longer than {SECONDS_MAX / 86_400:.0f} days")
    if found_s is None:
        raise typer.BadParameter(f"{text!r} is not a duration; use 90m, 12h, 3d or a number of seconds")
    return float(found_s)


def _span_s(text: str) -> int | None:
    found = _SPAN.fullmatch(text.strip())
    return None if found is None else int(found[1]) * _UNIT_S[found[2]]


def date(text: str) -> float:
    """Return a date, or a date and time in this machine's time zone, as seconds since the epoch."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date; use 2026-11-01 or '2026-11-01 08:30'") from None
    try:
        found = moment.timestamp()
    except (ValueError, OverflowError):  # Python's first and last years, in this time zone.
        found = -1.0
    if not 0 <= found <= SECONDS_MAX:
        last = datetime.fromtimestamp(SECONDS_MAX, UTC).date()
        raise typer.BadParameter(f"{text!r} is out of range; use a date from 1970-01-01 to {last}")
    return found
