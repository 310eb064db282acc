"""A tenant's limit of guaranteed bandwidth: which executions exceed it, which waits first, and which may pass.

As in the lines of the limits of cores and memory (`limit_lines.py`), the first keeps a reservation by the estimates of
run times, so that small ones of its tenant do not pass it for ever.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import Rates
from zoe_lib.domain.values.reasons import Reason, ReasonCode

_ENDLESS = 2**62
_MB = 1e6
_HINT = "it starts when enough of the tenant's executions have ended, or an admin raises the limit"
_BEHIND = Reason(
    ReasonCode.TENANT_LIMIT,
    ("Another execution of its tenant is ahead by the policy, and waits for the rest of the tenant's bandwidth limit."),
    hint="it starts when that execution has started, or earlier if it would not delay it",
)
# Whether no lasting reason would keep an execution from the nodes once a limit admits it.
MayStart = Callable[[Execution], bool]


@dataclass(slots=True)
class _Line:
    """A line: its first execution, the expected start of that, and the rest of the limit then."""

    place: int
    starts_s: float
    beside: Rates


class BandwidthLines:
    """For one pass: each tenant's guarantees, their expected ends, and the line for its limit."""

    def __init__(self, policy: Policy) -> None:
        self._limits = policy.limits
        self._held: dict[str, Rates] = defaultdict(Rates)
        self._ends: dict[str, list[tuple[float, Rates]]] = defaultdict(list)
        self._lines: dict[str, _Line] = {}

    def take(self, tenant: str, wanted: Rates, ends_s: float) -> None:
        """Count this much until then: in use, or with a reserved place."""
        self._held[tenant] += wanted
        self._ends[tenant].append((ends_s, wanted))
        line = self._lines.get(tenant)
        if line is not None and ends_s > line.starts_s:
            line.beside -= wanted

    def refusal(
        self, execution: Execution, demand: Rates, place: int, ends_s: float, may_start: MayStart
    ) -> Reason | None:
        """Return why its tenant's limit refuses it, and put it in the line; None if the limit allows it."""
        tenant = execution.tenant
        most = self._most(tenant)
        if not demand.fits_in(most - self._held[tenant]):
            if tenant not in self._lines and demand.fits_in(most) and may_start(execution):
                self._begin(tenant, demand, place, most)
            return self._limit_reason(demand, most, self._held[tenant])
        line = self._lines.get(tenant)
        if line is None or place <= line.place or ends_s <= line.starts_s or demand.fits_in(line.beside):
            return None
        return _BEHIND

    def _begin(self, tenant: str, wanted: Rates, place: int, most: Rates) -> None:
        """Begin a line if the tenant's present guarantees are expected to end."""
        free = most - self._held[tenant]
        for ends_s, rates in sorted(self._ends[tenant], key=lambda end: end[0]):
            free += rates
            if ends_s < math.inf and wanted.fits_in(free):
                self._lines[tenant] = _Line(place, ends_s, free - wanted)
                return

    def _most(self, tenant: str) -> Rates:
        limit = self._limits.for_subject(tenant)
        read, write = limit.read_bytes_per_s, limit.write_bytes_per_s
        return Rates(_ENDLESS if read is None else read, _ENDLESS if write is None else write)

    def _limit_reason(self, wanted: Rates, most: Rates, held: Rates) -> Reason:
        ways = (("read", most.read, held.read, wanted.read), ("write", most.write, held.write, wanted.write))
        what, limit, has, more = next(way for way in ways if way[3] and way[2] + way[3] > way[1])
        return Reason(
            ReasonCode.TENANT_LIMIT,
            (
                f"It requires {_mb(more)} MB/s to {what}, but {_mb(has)} of at most {_mb(limit)} MB/s are "
                "already guaranteed to its tenant."
            ),
            hint=_HINT
            if more <= limit
            else "it never starts within the limit: ask for less, or ask an admin to raise the limit",
        )


def _mb(rate: int) -> str:
    return f"{rate / _MB:.4g}"
