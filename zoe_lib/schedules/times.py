"""Times of a cron expression in a time zone, also on days when clocks change.

As in Debian's cron, but a time that the clock skips is never lost: it runs at the change. An hourly expression needs no
such run.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from itertools import islice

from cronsim import CronSim, CronSimError

from zoe_client.words.times import zone_of
from zoe_lib.domain.values.frozen import value

EXPRESSION_MAX = 200
_FIELDS = 5
_NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
# The library computes with wall-clock times. When clocks change, their order differs from that of the moments, so the
# search begins this much earlier, and continues for as long.
_AROUND_S = 3 * 3600
_AROUND_MAX = 7 * 60
_CALLED = {"day-of-month": "day of the month", "day-of-week": "day of the week"}
_ALLOWED = {
    "minute": "it is from 0 to 59",
    "hour": "it is from 0 to 23",
    "day-of-month": "it is from 1 to 31, and a day that one of the months has",
    "month": "it is from 1 to 12, or JAN to DEC",
    "day-of-week": "it is from 0 (Sunday) to 7, or SUN to SAT",
}


class BadTimes(ValueError):  # noqa: N818 - it is an answer
    """The expression or the zone (`field`) is invalid; the message gives the cause."""

    def __init__(self, message: str, field: str = "expression") -> None:
        super().__init__(message)
        self.field = field


@value(frozen=True, slots=True)
class CronTimes:
    """Times of a cron expression of five fields, or a name such as `@daily`, in a zone such as Europe/Paris."""

    expression: str
    zone: str

    def __post_init__(self) -> None:
        if len(self.expression) > EXPRESSION_MAX:
            raise BadTimes(f"an expression has {EXPRESSION_MAX} characters at most")
        try:
            zone_of(self.zone)
        except ValueError as error:
            raise BadTimes(str(error), "zone") from None
        if len(self._fields.split()) != _FIELDS:
            why = "minute, hour, day of the month, month, day of the week; or " + ", ".join(_NAMED)
            raise BadTimes(f"{self.expression[:64]!r} does not have five fields: {why}")
        self._sim(datetime(1970, 1, 1), False)  # noqa: DTZ001 - of no zone

    def next_after(self, at_s: float) -> float | None:
        """Return the first time after this moment (seconds since the epoch); None if there is none in 50 years."""
        changes = self._changes_near(at_s)
        best: float | None = None
        for wall in islice(self._wall_clock_times(at_s - _AROUND_S if changes else at_s, False), _AROUND_MAX):
            later = [moment for moment in self._moments(wall) if moment > at_s]
            if best is not None and (not later or min(later) >= best + _AROUND_S):
                break
            best = min([*later, *([] if best is None else [best])], default=None)
            if best is not None and not changes:
                break
        return best

    def newest(self, from_s: float, to_s: float, most: int) -> list[float]:
        """Return the newest times between these moments, both included, at most `most`; the oldest first."""
        found = set[float]()
        start_s = to_s + (_AROUND_S if self._changes_near(to_s) else 60)
        for wall in islice(self._wall_clock_times(start_s, True), _AROUND_MAX + most):
            moments = self._moments(wall)
            oldest_s = from_s if len(found) < most else sorted(found)[-most]
            if max(moments, default=oldest_s) < oldest_s - _AROUND_S:
                break
            found.update(moment for moment in moments if from_s <= moment <= to_s)
        return sorted(found)[-most:]

    def _changes_near(self, at_s: float) -> bool:
        """Return whether the clock changes within some hours before or after a moment."""
        zone = zone_of(self.zone)
        before, after = (datetime.fromtimestamp(at_s + number, zone).utcoffset() for number in (-_AROUND_S, _AROUND_S))
        return before != after

    @property
    def _each_hour(self) -> bool:
        return self._fields.split()[1] == "*"

    @property
    def _runs_each_hour(self) -> bool:
        """Return whether it runs in both of two hours with the same name."""
        minute, hour, *_ = self._fields.split()
        return minute.startswith("*") or hour.startswith("*")

    def _moments(self, wall: datetime) -> list[float]:
        """Return the moments at which a clock of the zone shows this time: one, two or none."""
        zone = zone_of(self.zone)
        first_s, second_s = (wall.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
        if first_s < second_s:
            return [first_s, second_s] if self._runs_each_hour else [first_s]
        if second_s < first_s:  # the clock skips it
            return [] if self._each_hour else [_change(zone, second_s, first_s)]
        return [first_s]

    @property
    def _fields(self) -> str:
        return _NAMED.get(self.expression.strip().lower(), self.expression)

    def _wall_clock_times(self, at_s: float, back: bool) -> CronSim:
        """Return the wall-clock times after or before a moment."""
        return self._sim(datetime.fromtimestamp(at_s, zone_of(self.zone)).replace(tzinfo=None), back)

    def _sim(self, wall: datetime, back: bool) -> CronSim:
        try:
            return CronSim(self._fields, wall, reverse=back)
        except CronSimError as error:
            field = str(error).removeprefix("Bad ")
            why = _ALLOWED.get(field, f"it is no {field}")
            raise BadTimes(f"{self.expression[:64]!r}: the {_CALLED.get(field, field)} cannot be read; {why}") from None
        except (AssertionError, ValueError, OverflowError, OSError) as error:
            why = str(error) or "it mixes what does not belong together"
            raise BadTimes(f"{self.expression[:64]!r}: {why}") from None


def _change(zone: tzinfo, before_s: float, after_s: float) -> float:
    """Return the moment at which the clock is put forward, between two moments at most a day apart."""
    offset = datetime.fromtimestamp(before_s, zone).utcoffset()
    low, high = int(before_s), int(after_s)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if datetime.fromtimestamp(middle, zone).utcoffset() == offset else (low, middle)
    return float(high)
