"""Reservations of executions by day: the only record after executions are removed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.promises import requested_rates
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.owners import FormerUser

DAY_S = 86400.0


@value(frozen=True, slots=True)
class DayOfUser:
    """A day (number of days since the epoch, UTC) of one user in one tenant."""

    day: int
    tenant: str
    user: str


@value(frozen=True, slots=True)
class ResourceSeconds:
    """Reserved cores and memory times the seconds of their reservation.

    `store_bytes`: the granted bandwidth of the object store times the seconds of the grant.
    """

    core_s: float = 0.0
    memory_byte_s: float = 0.0
    store_bytes: float = 0.0

    def __add__(self, other: ResourceSeconds) -> ResourceSeconds:
        """Return the sum."""
        return ResourceSeconds(
            self.core_s + other.core_s,
            self.memory_byte_s + other.memory_byte_s,
            self.store_bytes + other.store_bytes,
        )


def daily_use(executions: Iterable[Execution], now_s: float | None = None) -> Mapping[DayOfUser, ResourceSeconds]:
    """Return the use from the start of a service's process to its end, split at midnight UTC.

    Running services count until `now_s`, or not at all.
    """
    result: dict[DayOfUser, ResourceSeconds] = defaultdict(ResourceSeconds)
    for execution in executions:
        for user, day, used in _parts(execution, now_s):
            result[DayOfUser(day, execution.tenant, user)] += used
    return dict(result)


def granted_by_day(execution: Execution, until_s: float | None) -> Mapping[int, float]:
    """Return for how many seconds of each day its bandwidth was granted; the present grant counts until the given time,
    or not at all.

    One number for each day, however often grants and withdrawals alternate.
    """
    return granted_until(execution.granted_s, execution.marks.get(Mark.STORAGE_GRANTED), until_s)


def granted_until(before: Mapping[int, float], since_s: float | None, until_s: float | None) -> Mapping[int, float]:
    """Return seconds of each day: the earlier ones, plus those from `since_s` until `until_s` if both are known."""
    if since_s is None or until_s is None:
        return before
    result = dict(before)
    for day, seconds in _days(since_s, until_s):
        result[day] = result.get(day, 0.0) + seconds
    return result


def granted_to_owners(
    granted_s: Mapping[int, float], user: str, former: Sequence[FormerUser]
) -> Iterator[tuple[str, int, float]]:
    """Yield the seconds of each day for which bandwidth was granted, with the owner at that time."""
    before: Mapping[int, float] = {}
    for owner in (*former, FormerUser(user, inf, granted_s)):
        for day, seconds in owner.granted_s.items():
            if seconds > before.get(day, 0.0):
                yield owner.user, day, seconds - before.get(day, 0.0)
        before = owner.granted_s


def _parts(execution: Execution, now_s: float | None) -> Iterator[tuple[str, int, ResourceSeconds]]:
    """Yield the use of an execution in parts, each with its owner and day."""
    owners = tuple(_owners(execution))
    for service in execution.services:
        end_s = service.ended_at_s if service.ended_at_s is not None else now_s
        if service.started_at_s is not None and end_s is not None:
            amount = execution.component_of(service).reservation
            for user, since_s, until_s in owners:
                for day, seconds in _days(max(service.started_at_s, since_s), min(end_s, until_s)):
                    used = ResourceSeconds(amount.cores_milli / 1000 * seconds, float(amount.memory_bytes) * seconds)
                    yield user, day, used
    rates = requested_rates(execution.application)
    if rates is not None:
        granted_s = granted_by_day(execution, execution.marks.get(Mark.ENDED, now_s))
        for user, day, seconds in granted_to_owners(granted_s, execution.user, execution.former_owners):
            yield user, day, ResourceSeconds(store_bytes=float(rates.read + rates.write) * seconds)


def _owners(execution: Execution) -> Iterator[tuple[str, float, float]]:
    """Yield each owner, with the time from which and until which it was the owner."""
    since_s = -inf
    for former in execution.former_owners:
        yield former.user, since_s, former.until_s
        since_s = former.until_s
    yield execution.user, since_s, inf


def _days(from_s: float, to_s: float) -> Iterable[tuple[int, float]]:
    day = int(from_s // DAY_S)
    while from_s < to_s:
        until_s = min((day + 1) * DAY_S, to_s)
        yield day, until_s - from_s
        from_s, day = until_s, day + 1
