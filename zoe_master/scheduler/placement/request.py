"""The request that filters and weighers judge."""

from __future__ import annotations

import math
from collections.abc import Callable

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.storage import StorageDemand
from zoe_master.scheduler.booking.bookings import pessimistic_end
from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores


@value(frozen=True, slots=True)
class Request:
    """A group of `count` identical services to be placed at once, from `begins_s` until `ends_s` by estimate.

    leaves_s: when they have ended for certain, before the holds of their nodes begin.
    gives_way: they are taken back when their room is needed, so they may use booked room. sure: they end in time, by a
    promise; else they may take longer than expected.
    """

    component: Component
    count: int
    tenant: str
    storage: StorageDemand | None = None
    begins_s: float = 0.0
    ends_s: float = math.inf
    gives_way: bool = False
    sure: bool = False
    leaves_s: float = math.inf

    @property
    def stays_until_s(self) -> float:
        """Return the pessimistic end of their stay."""
        return self.ends_s if self.sure else pessimistic_end(self.begins_s, self.ends_s)


# Returns None to accept the node, or why it cannot take one more of these services.
Filter = Callable[[Request, Node, Ledger], str | None]
# Returns scores in [0, 1] of the nodes with these indexes; higher is better.
Weigher = Callable[[Request, Nodes, Ledger], Scores]
