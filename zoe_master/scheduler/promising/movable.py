"""How long offers stand: the room of an offer lasts for a later acceptance, where there is more. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.promising.future import FutureNodes, lasting

ANSWER_S = 10.0
"""Least time to accept an offer that ends at the requested time."""
MOVING = frozenset({OfferKind.EARLIEST, OfferKind.CHEAPEST})
"""Kinds of offers that end later if they are accepted later; the others end at the requested time."""


class PromiseRoom:
    """The room of an offer, for one execution or for each of a group.

    ends_s: until when the offer can be accepted. moves_from_s: accepted later than this, all of it is later by as much;
    None: its times stay. bookings: the room, in the order of the executions.
    """

    def __init__(
        self, found: Sequence[tuple[Execution, Booking]], later: FutureNodes, offers_end_s: float, moves: bool
    ) -> None:
        begins_s = min(booking.begins_s for _, booking in found)
        late_s = later.movable_s(found, math.ceil(max(offers_end_s - begins_s, 0.0))) if moves else 0
        self.moves_from_s = begins_s if moves else None
        self.ends_s = min(begins_s + late_s, offers_end_s)
        self.bookings = [lasting(booking, late_s) for _, booking in found]
