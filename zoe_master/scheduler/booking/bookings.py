"""Bookings: room on nodes that is kept for promised executions from a time on.

Before that time others may use it if they are expected to have left by then. Elastic services may use it at any time,
since they are taken back. It is kept node by node, so a booked service finds one node with room for it, and not a sum
over many.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from zoe_lib.domain.execution import ExecutionId
from zoe_lib.domain.resources import NOTHING, Resources
from zoe_lib.domain.values import value

# Run times that nobody promises are taken to be this many times as long: half of all learned ones are exceeded.
CAUTION = 1.5


@value(frozen=True, slots=True)
class Booking:
    """Room for an execution: it begins at `begins_s` at the latest, and has ended by `ends_s`; seconds since the epoch.

    places: node and amount, for each essential or guaranteed service. read_bytes_per_s: bandwidth to read that is kept
    for it, from now on.
    """

    execution_id: ExecutionId
    begins_s: float
    ends_s: float
    places: tuple[tuple[str, Resources], ...] = ()
    read_bytes_per_s: int = 0

    @property
    def cores_milli(self) -> int:
        """Return the cores of all places, in thousandths."""
        return sum(amount.cores_milli for _, amount in self.places)


# When something is expected to leave which node, and how much it frees there.
Leaving = tuple[float, int, Resources]
_Free = Callable[[int], Resources]


@value(frozen=True, slots=True)
class _Kept:
    """What one booking keeps on one node."""

    execution_id: ExecutionId
    begins_s: float
    ends_s: float
    amount: Resources


class BookedRoom:
    """What bookings leave of the room on nodes, seen from one state of the accounts.

    `leaving`: what ends, beyond what these accounts count as free. `returned`: what others give back whenever it is
    needed, by node: elastic services.
    """

    def __init__(
        self,
        bookings: Iterable[Booking],
        index: Mapping[str, int],
        leaving: Iterable[Leaving],
        returned: Mapping[int, Resources] | None = None,
    ) -> None:
        self._kept: dict[int, list[_Kept]] = defaultdict(list)
        begins: set[float] = set()
        for one in bookings:
            begins.add(one.begins_s)
            for name, amount in one.places:
                if name in index:
                    self._kept[index[name]].append(_Kept(one.execution_id, one.begins_s, one.ends_s, amount))
        self._begins = sorted(begins)
        self._leaving: dict[int, list[tuple[float, Resources]]] = defaultdict(list)
        for at_s, node, amount in leaving:
            if node in self._kept:
                self._leaving[node].append((at_s, amount))
        self._returned = returned or {}
        # Shared with twins.
        self._dropped: set[ExecutionId] = set()
        self._apart: list[ExecutionId | None] = [None]
        self._ignored = [False]
        self._known: dict[tuple[object, ...], Resources] = {}

    def with_returned(self, returned: Mapping[int, Resources]) -> BookedRoom:
        """Return the same bookings for accounts to which others give back this much, by node."""
        twin = BookedRoom.__new__(BookedRoom)
        twin.__dict__ |= self.__dict__ | {"_returned": returned, "_known": {}}
        return twin

    def set_apart(self, execution_id: ExecutionId | None) -> None:
        """Leave the booking of this execution out of account while it looks for its own room; None: of none."""
        self._apart[0] = execution_id

    @contextmanager
    def ignored(self) -> Iterator[None]:
        """Ask what would be possible without any booking."""
        self._ignored[0] = True
        yield
        self._ignored[0] = False

    def drop(self, execution_id: ExecutionId) -> None:
        """Forget the booking of an execution that has got its room."""
        self._dropped.add(execution_id)

    def key(self, begins_s: float, until_s: float) -> tuple[object, ...]:
        """Return a key that is the same for services for which the same room is left."""
        return (
            self._ignored[0],
            self._apart[0],
            len(self._dropped),
            begins_s,
            bisect_left(self._begins, until_s),
        )

    def leaves(
        self, nodes: Sequence[int], amount: Resources, begins_s: float, until_s: float, free: _Free
    ) -> list[int]:
        """Return those of these nodes that have this much left beside the bookings, for this time."""
        return [
            node
            for node in nodes
            if node not in self._kept or (amount + self.shortfall(node, begins_s, until_s)).fits_in(free(node))
        ]

    def shortfall(self, node: int, begins_s: float, until_s: float) -> Resources:
        """Return how much of what is free on a node must stay free between two times."""
        if node not in self._kept or self._ignored[0]:
            return NOTHING
        key = (node, begins_s, until_s, self._apart[0], len(self._dropped))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._shortfall(node, begins_s, until_s)
        return known

    def _shortfall(self, node: int, begins_s: float, until_s: float) -> Resources:
        apart = {self._apart[0], *self._dropped}
        kept = [one for one in self._kept[node] if one.execution_id not in apart]
        most = NOTHING
        for at_s in {max(one.begins_s, begins_s) for one in kept if one.begins_s < until_s and one.ends_s > begins_s}:
            lacks = NOTHING
            for one in kept:
                if one.begins_s <= at_s < one.ends_s:
                    lacks += one.amount
            lacks -= self._returned.get(node, NOTHING)
            for ends_s, amount in self._leaving.get(node, ()):
                if ends_s <= at_s:
                    lacks -= amount
            most = _greater(most, lacks)
        return most


def cautious(begins_s: float, ends_s: float) -> float:
    """Return the time until which something is taken to stay, if it is expected to end at `ends_s`."""
    return begins_s + CAUTION * (ends_s - begins_s)


def _greater(one: Resources, other: Resources) -> Resources:
    devices = {
        kind: max(one.devices.get(kind, 0), other.devices.get(kind, 0)) for kind in {*one.devices, *other.devices}
    }
    return Resources(max(one.cores_milli, other.cores_milli), max(one.memory_bytes, other.memory_bytes), devices)
