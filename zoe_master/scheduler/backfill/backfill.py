"""EASY backfill: the first waiting execution keeps one reservation, and others may pass if they do not delay it.

Lifka, "The ANL/IBM SP scheduling system", 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. Generalised from a count
of processors to nodes with several resources: the free amounts at the reserved time have a separate ledger.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.backfill.beside import BackfillRoom
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.placement.admission import admit, places_in, surely_refused
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.core_columns import Mask, ServiceColumns
from zoe_master.scheduler.placement.free_resources import Holding, Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

# The expected end of an execution, and its resources until then.
Release = tuple[float, Sequence[Holding]]


class Reservation:
    """The earliest time at which the blocked execution's core fits by the estimates, and the amounts left then.

    `releases`: expected ends of running executions, and their resources. Without such a time (no running execution has
    a known end) no execution may pass.
    """

    def __init__(
        self, blocked: Execution, placer: ServicePlacer, releases: Iterable[Release], estimates: Estimates, now_s: float
    ) -> None:
        self._now_s = now_s
        self._estimates = estimates
        self.shadow_s, self._then = _first_fit(blocked, placer, releases)
        self._widest = placer
        self._besides: dict[ServicePlacer, BackfillRoom] = {}
        self._check: CapacityCheck | None = None

    def may_let_pass(self, execution: Execution) -> bool:
        """Return False if none of its possible places would let it pass: a quick check before `find`."""
        if self._then is None:
            return False
        if self._ends_before(execution):
            return True
        beside = self._backfill_room(self._widest, self._then)
        if self._check is None:
            self._check = CapacityCheck(beside)
        return not surely_refused(execution, beside) and self._check.may_have_room(execution)

    def may_let_each(self, columns: ServiceColumns, run_s: npt.NDArray[np.float64]) -> Mask:
        """Return for each of these executions, with its expected run time, whether `may_let_pass` may be true."""
        if self._then is None:
            return np.zeros(len(run_s), dtype=np.bool_)
        beside = self._backfill_room(self._widest, self._then)
        if self._check is None:
            self._check = CapacityCheck(beside)
        may, _ = self._check.settle(columns)
        may &= columns.cores * columns.count <= beside.ledger.free_cores_in_all
        early: Mask = self._now_s + run_s <= self.shadow_s
        return may | early

    def refresh(self) -> None:
        """Check the present room in `may_let_pass`: to be called when an execution that passed it found no place."""
        if self._check is not None:
            self._check.refresh()

    def find(self, execution: Execution, room: ServicePlacer) -> tuple[Placement, ...] | None:
        """Return places in this room with which the blocked execution starts no later, and count them; the room does
        not change.

        If weighers choose reserved nodes, the other nodes are tried alone.
        """
        if self._then is None:
            return None
        found = places_in(room, execution)
        if found is None or self._ends_before(execution) or self._fits_then(execution, found):
            return found
        found = places_in(self._backfill_room(room, self._then), execution)
        return found if found is not None and self._fits_then(execution, found) else None

    def lets_grow(self, execution: Execution, placements: Sequence[Placement], ends_s: float) -> bool:
        """Return the same for elastic services of an execution that runs until `ends_s`, which no core can take
        back.
        """
        return self._then is None or ends_s <= self.shadow_s or self._fits_then(execution, placements)

    def room_beside(self, room: ServicePlacer, ends_s: float) -> ServicePlacer | None:
        """Return the resources of this room that do not delay the blocked execution at its reserved time."""
        return None if self._then is None or ends_s <= self.shadow_s else self._backfill_room(room, self._then)

    def _fits_then(self, execution: Execution, placements: Sequence[Placement]) -> bool:
        if self._then is None:
            return False
        wanted = self._then.holdings_at(execution, placements)
        for taken, (node, amount) in enumerate(wanted):
            if not amount.fits_in(self._then.free(node)):
                for earlier, its_amount in wanted[:taken]:
                    self._then.give_back(earlier, its_amount)
                return False
            self._then.take(node, amount)
        return True

    def _backfill_room(self, room: ServicePlacer, then: Ledger) -> ServicePlacer:
        known = self._besides.get(room)
        if known is None:
            known = self._besides[room] = BackfillRoom(room, then)
        return known.placer()

    def _ends_before(self, execution: Execution) -> bool:
        return self._now_s + self._estimates.guess_s(execution) <= self.shadow_s


def _first_fit(blocked: Execution, placer: ServicePlacer, releases: Iterable[Release]) -> tuple[float, Ledger | None]:
    """Return the earliest end after which the blocked execution fits, and the ledger then with its places taken.

    Once it fits it always fits, so this is a bisection over the ends, after a check of the first with enough cores on
    all nodes together: usually it is that one. The ledger of the latest insufficient end is kept, and only later
    releases are added to it: each is added once.
    """
    ordered = sorted([release for release in releases if release[0] < math.inf], key=_end)
    # Before `low` it does not fit, from `high` on it does.
    low, high = max(_enough_cores(blocked, placer, ordered) - 1, 0), len(ordered)
    probe = low
    too_early, counted = placer.ledger, 0  # with so many releases
    then: Ledger | None = None
    while low < high:
        after = bisect_right(ordered, ordered[probe][0], key=_end)
        ledger = too_early.copy()
        ledger.booked = None  # the cause is determined when its time has come
        for _, holdings in ordered[counted:after]:
            for node, amount in holdings:
                ledger.give_back(node, amount)
        later = placer.with_ledger(ledger)
        if not surely_refused(blocked, later) and isinstance(admit(blocked, later), tuple):
            then, high = ledger, bisect_left(ordered, ordered[after - 1][0], key=_end)
        else:
            too_early, counted, low = ledger, after, after
        probe = (low + high) // 2
    return (math.inf, None) if then is None else (ordered[high][0], then)


def _enough_cores(blocked: Execution, placer: ServicePlacer, ordered: Sequence[Release]) -> int:
    """Return the least number of releases before the core's cores could be free, on any nodes."""
    released = (sum(amount.cores_milli for _, amount in holdings) for _, holdings in ordered)
    free = list(accumulate(released, initial=placer.ledger.free_cores_in_all))
    return bisect_left(free, blocked.application.core_resources().cores_milli)


def _end(release: Release) -> float:
    return release[0]
