"""Resources free both now and at a reserved time: a service there does not delay the reserved execution."""

from __future__ import annotations

from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer


class BackfillRoom:
    """A separate room, kept equal to the minimum of the present room and the accounts of the reserved time.

    Only nodes whose accounts changed are updated, since a long queue asks often.
    """

    def __init__(self, now: ServicePlacer, then: Ledger) -> None:
        self._now = now.ledger
        self._then = then
        self._seen = len(self._now.changes), len(then.changes)
        ledger = self._now.copy()
        ledger.lower_to(then)
        self._placer = now.with_ledger(ledger)

    def placer(self) -> ServicePlacer:
        """Return the present room."""
        now, then = self._now, self._then
        seen, present = self._seen, (len(now.changes), len(then.changes))
        if seen == present:
            return self._placer
        self._seen = present
        for node in {*now.changes[seen[0] :], *then.changes[seen[1] :]}:
            self._placer.ledger.set_to_lower(node, now, then)
        return self._placer
