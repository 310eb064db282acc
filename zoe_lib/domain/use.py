"""What executions have reserved over time, by day: what is left of them when they are removed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zoe_lib.domain.execution import Execution

DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class DayOfUser:
    """A day (number of days since the epoch, UTC) of one user in one tenant."""

    day: int
    tenant: str
    user: str


@dataclass(frozen=True, slots=True)
class Use:
    """Reserved cores and memory times the seconds for which services had them."""

    core_s: float = 0.0
    memory_byte_s: float = 0.0

    def __add__(self, other: Use) -> Use:
        """Both together."""
        return Use(self.core_s + other.core_s, self.memory_byte_s + other.memory_byte_s)


def daily_use(executions: Iterable[Execution]) -> Mapping[DayOfUser, Use]:
    """The use of services that have ended, from the start of their process to its end, split at midnight UTC."""
    result: dict[DayOfUser, Use] = defaultdict(Use)
    for execution in executions:
        for service in execution.services:
            if service.started_at_s is None or service.ended_at_s is None:
                continue
            amount = execution.component_of(service).reservation
            for day, seconds in _days(service.started_at_s, service.ended_at_s):
                key = DayOfUser(day, execution.tenant, execution.user)
                result[key] += Use(amount.cores_milli / 1000 * seconds, float(amount.memory_bytes) * seconds)
    return dict(result)


def _days(from_s: float, to_s: float) -> Iterable[tuple[int, float]]:
    day = int(from_s // DAY_S)
    while from_s < to_s:
        until_s = min((day + 1) * DAY_S, to_s)
        yield day, until_s - from_s
        from_s, day = until_s, day + 1
