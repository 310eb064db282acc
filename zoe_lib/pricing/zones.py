"""Moments and months in a time zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from zoe_client.words.times import zone_of
from zoe_lib.domain.executions.metering import microseconds
from zoe_lib.domain.values.frozen import value

_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)


@value(frozen=True, slots=True)
class Month:
    """A month in a zone: from its first moment to the first of the next, in microseconds since the epoch."""

    name: str
    from_us: int
    to_us: int


def month_of(name: str, zone: str) -> Month:
    """Return the month of a name such as 2026-11; ValueError."""
    found = _MONTH.fullmatch(name)
    if found is None or not 1970 < int(found[1]) < 9999:
        raise ValueError(f"{name[:20]!r} is not a month such as 2026-11")
    year, month = int(found[1]), int(found[2])
    following = (year + month // 12, month % 12 + 1)
    return Month(name, *(_first_us(*item, zone_of(zone)) for item in ((year, month), following)))


def month_at(at_s: float, zone: str) -> Month:
    """Return the month of a time."""
    return month_of(datetime.fromtimestamp(at_s, zone_of(zone)).strftime("%Y-%m"), zone)


def moment_us(text: str, zone: str) -> int:
    """Return the moment of a date or time such as 2026-12-01 or 2026-12-01T06:00, in the zone unless it states an
    offset; ValueError.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a time such as 2026-12-01 or 2026-12-01T06:00") from None
    if not 1970 < found.year < 9999:
        raise ValueError(f"the year {found.year} is out of range")
    if found.tzinfo is not None:
        return microseconds(found.timestamp())
    local = found.replace(tzinfo=zone_of(zone))
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != found:
        raise ValueError(f"{text[:40]!r} does not exist in {zone}, where clocks are put forward then")
    return microseconds(local.timestamp())


def text_of(at_us: int, zone: str) -> str:
    """Return a moment as text in that zone, with its offset."""
    return datetime.fromtimestamp(at_us / 1_000_000, zone_of(zone)).isoformat(sep=" ", timespec="seconds")


def _first_us(year: int, month: int, zone: tzinfo) -> int:
    return microseconds(datetime(year, month, 1, tzinfo=zone).timestamp())
