"""Times of a cron expression in a time zone, as Debian's cron has them, also on the days when clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from cronsim import CronSim, CronSimError

from zoe_client.times import zone_of
from zoe_lib.domain.values import value

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
# The library takes times of day without the zone's offset. In the hour that comes twice it may so begin late, or with a
# time that has passed: looking begins this much earlier, and what does not count is left out.
_AROUND_S = 3 * 3600
_AROUND_MAX = 4 * 60


class BadTimes(ValueError):  # noqa: N818 - it is an answer
    """The expression or the zone (`field`) cannot be understood; the message says why."""

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
            raise BadTimes(f"{self.expression[:64]!r} has not five fields: {why}")
        self._sim(0.0, False)

    def next_after(self, at_s: float) -> float | None:
        """Return the first time after this moment (seconds since the epoch); None if there is none in 50 years."""
        found = self._from(at_s, False)
        return next((one for one in islice(found, _AROUND_MAX) if one > at_s), None)

    def newest(self, from_s: float, to_s: float, most: int) -> list[float]:
        """Return the newest times between these moments, both included, at most so many; the oldest first."""
        found: list[float] = []
        for one in islice(self._from(to_s + _AROUND_S, True), _AROUND_MAX + most):
            if one < from_s or len(found) == most:
                break
            if one <= to_s and (not found or one < found[-1]):
                found.append(one)
        return found[::-1]

    @property
    def _fields(self) -> str:
        return _NAMED.get(self.expression.strip().lower(), self.expression)

    def _from(self, at_s: float, back: bool) -> Iterator[float]:
        for one in self._sim(at_s, back):
            yield one.timestamp()

    def _sim(self, at_s: float, back: bool) -> CronSim:
        try:
            return CronSim(self._fields, datetime.fromtimestamp(at_s, zone_of(self.zone)), reverse=back)
        except (CronSimError, AssertionError, ValueError, OverflowError, OSError) as error:
            why = str(error) or "it mixes what does not belong together"
            raise BadTimes(f"{self.expression[:64]!r}: {why}") from None
