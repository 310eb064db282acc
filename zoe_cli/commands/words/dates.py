"""Parse dates from the command line."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import typer

from zoe_cli.output import note
from zoe_client.vocabulary import SECONDS_MAX
from zoe_client.words.times import USE, BadTime, read_date, read_deadline, read_time, sent_deadline, span_s

_DIGITS_MAX = 18


def now_s() -> float:
    """Return the present time, as seconds since the epoch."""
    return time.time()


def since(text: str) -> float:
    """Return a past time as seconds since the epoch: an age such as 90m, 12h or 3d, or a date."""
    ago_s = None if text.strip().isdecimal() else span_s(text.strip())
    return date(text) if ago_s is None else max(now_s() - ago_s, 0.0)


def coming(text: str) -> float:
    """Return a future time, as seconds since the epoch: +3h, 08:00 (the next one in this machine's time zone), or a
    date. Print a note on days when clocks change.
    """
    try:
        found = read_time(text, now_s())
    except BadTime as error:
        raise typer.BadParameter(str(error)) from None
    if found.note:
        note(f"note: {found.note}")
    return found.at_s


def deadline(text: str) -> str:
    """Return a deadline for the request, and print it in full."""
    return requested_deadline(text)[0]


def requested_deadline(text: str) -> tuple[str, str]:
    """Return a deadline, and the printed time, for a request whose response repeats it."""
    try:
        found = read_deadline(text, now_s())
        note(f"deadline: {found.in_full}" + (f"; {found.note}" if found.note else ""))
        return sent_deadline(text, now_s()), datetime.fromtimestamp(found.at_s, UTC).isoformat()
    except BadTime as error:
        raise typer.BadParameter(str(error)) from None


def duration(text: str, most_s: float = SECONDS_MAX) -> float:
    """Return a duration such as 90m, 12h, 1d2h, or seconds, in seconds; `BadParameter` beyond a maximum of whole
    days.
    """
    found_s = span_s(text.strip())
    if found_s is None and text.strip().isascii() and text.strip().isdecimal():
        found_s = float(text.strip()[:_DIGITS_MAX])
    if found_s is not None and found_s > most_s:
        raise typer.BadParameter(f"{text!r} is longer than {most_s / 86_400:.0f} days")
    if found_s is None:
        raise typer.BadParameter(f"{text!r} is not a duration; use 90m, 12h, 3d or a number of seconds")
    return found_s


def seconds(text: str) -> float:
    """Return a duration, or a number of seconds with a fraction, in seconds; for options."""
    try:
        found_s = float(text)
    except ValueError:
        return duration(text)
    return found_s if 0.0 <= found_s <= SECONDS_MAX else duration(text)


def date(text: str) -> float:
    """Return a date, or a date and time in this machine's time zone, as seconds since the epoch."""
    try:
        return read_date(text)
    except BadTime as error:
        told = str(error).replace("not a time", "not a date").replace(USE, "use 2026-11-01 or '2026-11-01 08:30'")
        raise typer.BadParameter(told) from None
