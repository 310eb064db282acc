"""EASY backfill: the first that waits keeps one reservation, and others may pass if they do not delay it.

Lifka, "The ANL/IBM SP scheduling system", 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. Generalised from a
count of processors to nodes with several resources: what is free at the reserved time is a ledger of its own.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution
from zoe_master.scheduler.admission import admit
from zoe_master.scheduler.estimate import Estimates
from zoe_master.scheduler.ledger import Holding, Ledger
from zoe_master.scheduler.placement import Placer

# When something is expected to end, and what it holds until then.
Release = tuple[float, Sequence[Holding]]


class Reservation:
    """The earliest time at which the blocked execution's core fits by the estimates, and what is left beside it then.

    `releases` says for what runs when it is expected to end and what it holds. Without such a time (nothing that runs
    has a known end) nobody may pass.
    """

    def __init__(
        self, blocked: Execution, placer: Placer, releases: Iterable[Release], estimates: Estimates, now_s: float
    ) -> None:
        self._now_s = now_s
        self._estimates = estimates
        self._then: Ledger | None = None
        self.shadow_s = math.inf
        fits = _FirstFit(blocked, placer, releases)
        first = bisect_left(fits.times, True, key=fits)
        if first < len(fits.times):
            self.shadow_s = fits.times[first]
            self._then = fits.ledgers[self.shadow_s]

    def lets_pass(self, execution: Execution, placements: Sequence[Placement]) -> bool:
        """Whether the blocked one starts no later if this one takes these places now; if so they are accounted for."""
        if self._then is None:
            return False
        if self._now_s + self._estimates.run_s(execution) <= self.shadow_s:
            return True
        wanted = self._then.wanted(execution, placements)
        for taken, (node, amount) in enumerate(wanted):
            if not amount.fits_in(self._then.free(node)):
                for earlier, its_amount in wanted[:taken]:
                    self._then.give_back(earlier, its_amount)
                return False
            self._then.take(node, amount)
        return True


class _FirstFit:
    """Asks whether the blocked execution fits once everything expected to end by a time has ended."""

    def __init__(self, blocked: Execution, placer: Placer, releases: Iterable[Release]) -> None:
        self._blocked = blocked
        self._placer = placer
        self._releases = sorted(releases, key=lambda release: release[0])
        self.times = sorted({at_s for at_s, _ in self._releases if at_s < math.inf})
        self.ledgers: dict[float, Ledger] = {}

    def __call__(self, at_s: float) -> bool:
        """True when it fits at that time; the ledger after its placement is kept."""
        ledger = self._placer.ledger.copy()
        for ends_at_s, holdings in self._releases:
            if ends_at_s > at_s:
                break
            for node, amount in holdings:
                ledger.give_back(node, amount)
        if not isinstance(admit(self._blocked, self._placer.on(ledger)), tuple):
            return False
        self.ledgers[at_s] = ledger
        return True
