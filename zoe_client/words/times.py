"""Parse times as users write them, for the command line, the SDK, the API and the web UI. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from zoe_client.vocabulary import SECONDS_MAX

TEXT_MAX = 100
_SPAN = re.compile(r"(?=[0-9])" + "".join(rf"(?:([0-9]{{1,18}}){unit})?" for unit in "wdhms"))
_UNITS_S = (7 * 86_400, 86_400, 3600, 60, 1)
# Eight digits are a date of ISO 8601.
_SECONDS = re.compile(r"[0-9]{1,7}")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")
# The last word is a zone if it begins with a letter; the T of ISO 8601 is inside a word.
_ZONED = re.compile(r"(.*\S)\s+([A-Za-z].*)")
_YEAR_MIN, _YEAR_MAX = 1969, 9999  # the first times of the epoch, in some zones
_DAYS_TRIED = 3


class BadTime(ValueError):  # noqa: N818 - it is an answer
    """The text is not a possible time; the message gives the cause and the syntax."""


@dataclass(frozen=True, slots=True)
class GivenTime:
    """A time given by a user.

    at_s: seconds since the epoch. after_s: seconds from now if the time was relative; else None. zone: the zone to show
    it in; None: this machine's. note: how a time was read that occurs twice or never, since clocks change; else empty.
    """

    at_s: float
    after_s: float | None = None
    zone: tzinfo | None = None
    note: str = ""

    @property
    def in_full(self) -> str:
        """Return the time with its date, its zone and UTC."""
        return in_full(self.at_s, self.zone)


def read_time(text: str, now_s: float, zone: tzinfo | None = None, zone_needed: bool = False) -> GivenTime:
    """Return the present meaning of a text such as `08:00`, `08:00 Europe/Paris`, `+1d2h` or `2026-12-01T08:00+01:00`;
    BadTime.

    A time of day is the next one on the clocks of its zone. `zone`: of times that state none; None: this machine's.
    `zone_needed`: refuse times without a zone, since the user's zone is unknown. A time that occurs twice is the first
    one in the future; a time that clocks skip is as much later as they are put forward (RFC 5545).
    """
    text = text.strip()
    if not text or len(text) > TEXT_MAX or not text.isascii():
        raise BadTime(f"{_excerpt(text)} is not a time; {USE}")
    after_s = span_s(text.removeprefix("+"))
    if after_s is not None or text.startswith("+"):
        if after_s is None:
            raise BadTime(f"{_excerpt(text)} is not a duration; use +90m, +3h or +1d2h")
        return GivenTime(_in_range(now_s + after_s, text), after_s, zone)
    moment = text
    if named := _ZONED.fullmatch(text):
        moment, zone, zone_needed = named[1], _zone(named[2]), False
    if found := _CLOCK.fullmatch(moment):
        _check_zone(text, zone_needed)
        return _next_time_of_day(found, now_s, zone, text)
    return _parse_date_time(moment, zone, zone_needed, text)


def read_deadline(text: str, now_s: float, zone: tzinfo | None = None, zone_needed: bool = False) -> GivenTime:
    """Return the time of a deadline, as `read_time`; BadTime if it has passed."""
    found = read_time(text, now_s, zone, zone_needed)
    if found.at_s <= now_s:
        raise BadTime(f"{_excerpt(text)} has passed: it was {found.in_full}; give a time to come")
    return found


def sent_deadline(text: str, now_s: float) -> str:
    """Return a deadline in the form of the API: a relative time unchanged, so that a repeated request is identical, and
    others in UTC. BadTime.
    """
    found = read_deadline(text, now_s)
    return text.strip() if found.after_s is not None else datetime.fromtimestamp(found.at_s, UTC).isoformat()


def span_s(text: str) -> float | None:
    """Return the seconds of a duration such as 90m, 12h, 1d2h or 600; None for other texts."""
    if _SECONDS.fullmatch(text):
        return float(text)
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    return float(sum(int(number) * unit_s for number, unit_s in zip(found.groups(), _UNITS_S, strict=True) if number))


def read_date(text: str, zone: tzinfo | None = None) -> float:
    """Return a date, or a date and time, of ISO 8601 as seconds since the epoch; BadTime."""
    return _parse_date_time(text.strip(), zone, False, text).at_s


# Files beside the zones: this machine's own zone, and zones with leap seconds.
_NO_ZONES = ("localtime", "posixrules", "Factory", "right/", "posix/")


def zone_of(name: str) -> tzinfo:
    """Return the zone of a name such as UTC or Europe/Paris; ValueError if this machine does not know it."""
    if name == "UTC":
        return UTC
    if not _ZONE.fullmatch(name) or name.startswith(_NO_ZONES):
        raise ValueError(f"{name[:64]!r} is not a time zone")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"{name[:64]!r} is not a time zone that this machine knows") from None


def in_full(at_s: float, zone: tzinfo | None = None) -> str:
    """Return a time as `2026-12-01 08:00:00 CET (2026-12-01 07:00:00 UTC)`; only once if the zone is UTC. None: this
    machine's zone.
    """
    universal = datetime.fromtimestamp(int(at_s), UTC)
    local = universal.astimezone(zone)
    text = f"{universal:%Y-%m-%d %H:%M:%S} UTC"
    if local.utcoffset() == timedelta(0) and local.tzname() == "UTC":
        return text
    return f"{local:%Y-%m-%d %H:%M:%S %Z} ({text})"


def _parse_date_time(moment: str, zone: tzinfo | None, zone_needed: bool, text: str) -> GivenTime:
    try:
        given = datetime.fromisoformat(moment)
    except ValueError:
        raise BadTime(f"{_excerpt(text)} is not a time; {USE}") from None
    if not _YEAR_MIN <= given.year < _YEAR_MAX:
        raise _out_of_range(text)
    if given.tzinfo is not None:
        return GivenTime(_in_range(given.timestamp(), text), None, zone)
    _check_zone(text, zone_needed)
    return _with_clock_note(given, 0, zone, text)


def _next_time_of_day(found: re.Match[str], now_s: float, zone: tzinfo | None, text: str) -> GivenTime:
    today = datetime.fromtimestamp(now_s, zone).replace(tzinfo=None, fold=0)
    try:
        first = today.replace(hour=int(found[1]), minute=int(found[2]), second=int(found[3] or 0), microsecond=0)
    except ValueError:
        raise BadTime(f"{_excerpt(text)} is not a time of day; use 08:00") from None
    for given, fold in _comings(first):
        if (coming := _with_clock_note(given, fold, zone, text)).at_s > now_s:
            return coming
    raise _out_of_range(text)


def _comings(first: datetime) -> Iterator[tuple[datetime, int]]:
    """Yield that time of this day and the following days, each before and after a change of the clocks."""
    for days in range(_DAYS_TRIED):
        for fold in (0, 1):
            yield first + timedelta(days=days), fold


def _with_clock_note(given: datetime, fold: int, zone: tzinfo | None, text: str) -> GivenTime:
    """Return a time on the clocks of a zone, with a note if it occurs twice or never."""
    first_s, second_s = (given.replace(tzinfo=zone, fold=entry).timestamp() for entry in (0, 1))
    if first_s == second_s:
        return GivenTime(_in_range(first_s, text), None, zone)
    if second_s < first_s:  # clocks are put forward over it
        at_s, why = _in_range(first_s, text), "does not exist"
        meant = f"since clocks are put forward; it is {_short(at_s, zone)}"
    else:
        at_s, why = _in_range(second_s if fold else first_s, text), "comes twice"
        which = "second" if fold else "first"
        meant = f"since clocks are put back; it is the {which}, {_short(at_s, zone)}"
    return GivenTime(at_s, None, zone, f"{given:%H:%M} {why} on {given:%Y-%m-%d}, {meant}")


def _short(at_s: float, zone: tzinfo | None) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC).astimezone(zone):%H:%M %Z}"


def _zone(name: str) -> tzinfo:
    try:
        return zone_of(name)
    except ValueError as error:
        raise BadTime(f"{error}; use a name such as Europe/Paris") from None


def _check_zone(text: str, zone_needed: bool) -> None:
    if zone_needed:
        raise BadTime(f"{_excerpt(text)} needs a time zone: write '{text[:40]} Europe/Paris' or '{text[:40]} UTC'")


def _in_range(at_s: float, text: str) -> float:
    if not 0 <= at_s <= SECONDS_MAX:
        raise _out_of_range(text)
    return at_s


def _out_of_range(text: str) -> BadTime:
    last = datetime.fromtimestamp(SECONDS_MAX, UTC).date()
    return BadTime(f"{_excerpt(text)} is out of range; use a date from 1970-01-01 to {last}")


def _excerpt(text: str) -> str:
    return ascii(text[:64])


USE = "use 08:00, +3h, +1d2h or '2026-12-01 08:30'"
