"""Conservative backfill as it reads: accounts of all nodes for every span between two ends. Slow; for comparisons."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.backfill.backfill import Release
from zoe_master.scheduler.backfill.profile import FoundCapacity
from zoe_master.scheduler.placement.admission import admit, surely_refused
from zoe_master.scheduler.placement.budget import ScanBudget
from zoe_master.scheduler.placement.free_resources import Holding, Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

# As in the product.
_BESIDES_MAX = 100


class PlainProfile:
    """The expected free resources from now on.

    `rooms` are those of `ElasticReclaim`: free now, and possibly freed; they begin now. The room of executions that
    should have ended by now counts from the next span on, which may begin at the same time: it is expected, but not
    free yet.
    """

    def __init__(
        self, rooms: Sequence[ServicePlacer], releases: Iterable[Release], now_s: float, _budget: ScanBudget
    ) -> None:
        self._placer = rooms[0]
        self._present = len(rooms)
        self._besides_left = _BESIDES_MAX
        self._times = [now_s] * len(rooms)
        self._ledgers = [room.ledger.copy() for room in rooms]
        for ends_at_s, holdings in sorted(releases, key=lambda release: release[0]):
            if ends_at_s == math.inf:
                break
            if len(self._times) == self._present or ends_at_s > self._times[-1]:
                self._times.append(ends_at_s)
                self._ledgers.append(self._ledgers[-1].copy())
            for node, amount in holdings:
                self._ledgers[-1].give_back(node, amount)

    def reserve(self, execution: Execution, run_s: float) -> FoundCapacity | None:
        """Reserve the earliest room for a core until its expected end; return its places if they are free now, else
        None.
        """
        cores_milli = execution.application.core_resources().cores_milli
        first = 0
        while first < len(self._times):
            after = self._first_after(first, self._times[first] + run_s)
            full = self._last_full(first, after, cores_milli)
            if full is not None:
                first = full + 1  # every begin before that time would overlap it
                continue
            answer = self._room(execution, first, after)
            if answer is not None:
                holdings = self._placer.ledger.holdings_at(execution, answer)
                now = first < self._present
                self._take(0 if now else first, after, self._times[first] + run_s, holdings)
                return FoundCapacity(answer, free=first == 0) if now else None
            first += 1
        return None

    def lets_grow(self, execution: Execution, placements: Sequence[Placement], ends_s: float) -> bool:
        """Return whether elastic services fit at these places until then beside all reservations; if so, take them."""
        after = self._first_after(0, ends_s)
        holdings = self._placer.ledger.holdings_at(execution, placements)
        if not all(_has_room(ledger, holdings) for ledger in self._ledgers[:after]):
            return False
        self._take(0, after, ends_s, holdings)
        return True

    def room_beside(self, room: ServicePlacer, ends_s: float) -> ServicePlacer | None:
        """Return the resources of this room beside all reservations until then; None once a pass has computed it too
        often.
        """
        if self._besides_left == 0:
            return None
        self._besides_left -= 1
        least = room.ledger.copy()
        for ledger in self._ledgers[: self._first_after(0, ends_s)]:
            least.lower_to(ledger)
        return room.with_ledger(least)

    def _last_full(self, first: int, after: int, cores_milli: int) -> int | None:
        spans = range(after - 1, first - 1, -1)
        return next((i for i in spans if self._ledgers[i].lacks_cores(cores_milli)), None)

    def _room(self, execution: Execution, first: int, after: int) -> tuple[Placement, ...] | None:
        """Return places that are free in all these spans."""
        least = self._ledgers[first].copy()
        if first >= self._present:
            least.booked = None  # known only for executions that start now
        for ledger in self._ledgers[first + 1 : after]:
            least.lower_to(ledger)
        placer = self._placer.with_ledger(least)
        answer = None if surely_refused(execution, placer) else admit(execution, placer)
        return answer if isinstance(answer, tuple) else None

    def _first_after(self, first: int, end_s: float) -> int:
        """Return the index of the first span that begins at or after this time.

        All spans that begin now count as one: an execution that starts and ends now has its place in each.
        """
        return max(bisect_left(self._times, end_s), first + 1, self._present)

    def _take(self, first: int, after: int, end_s: float, holdings: Sequence[Holding]) -> None:
        ends_inside = end_s < math.inf and (after == len(self._times) or self._times[after] > end_s)
        if ends_inside:
            self._times.insert(after, end_s)
            self._ledgers.insert(after, self._ledgers[after - 1].copy())
        for ledger in self._ledgers[first:after]:
            _take_all(ledger, holdings)


def _has_room(ledger: Ledger, holdings: Sequence[Holding]) -> bool:
    """Return whether all of them fit together, possibly on the same node."""
    wanted: dict[int, Resources] = {}
    for node, amount in holdings:
        wanted[node] = wanted[node] + amount if node in wanted else amount
    return all(amount.fits_in(ledger.free(node)) for node, amount in wanted.items())


def _take_all(ledger: Ledger, holdings: Sequence[Holding]) -> None:
    for node, amount in holdings:
        ledger.take(node, amount)
