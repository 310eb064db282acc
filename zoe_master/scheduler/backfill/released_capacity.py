"""How many services fit at each time when running executions only end: columns over nodes and releases.

A release only adds room, so the number of services that fit is a running sum over the releases, for each size of
service in O(nodes + releases).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.values.resources import MANY, Resources
from zoe_master.scheduler.backfill.backfill import Release
from zoe_master.scheduler.placement.free_resources import Ledger

Column = npt.NDArray[np.int64]
Nodes = npt.NDArray[np.bool_]


class ReleasedCapacity:
    """The present rooms, the smallest first, and the releases that add to the last one.

    `times`: the different times of releases, in seconds since the epoch, ascending.
    """

    def __init__(self, rooms: Sequence[Ledger], releases: Iterable[Release], now_s: float) -> None:
        self.rooms = rooms
        ends = [(max(ends_s, now_s), node, amount) for ends_s, held in releases for node, amount in held]
        self._amounts = [amount for _, _, amount in ends]
        self._nodes = np.array([node for _, node, _ in ends], dtype=np.intp)
        self.times, self._at = np.unique(np.array([ends_s for ends_s, _, _ in ends]), return_inverse=True)
        # Releases of one node stand together, the earliest first.
        self._order = np.lexsort((self._at, self._nodes))
        self._of_node: dict[int, list[int]] = defaultdict(list)
        for number in self._order.tolist():
            self._of_node[ends[number][1]].append(number)
        self._columns: dict[str, tuple[Column, Column, Column]] = {}
        self._now: dict[tuple[int, str], Column] = {}

    def of_node(self, node: int) -> list[tuple[float, Resources]]:
        """Return the releases on a node, the earliest first."""
        return [(float(self.times[self._at[number]]), self._amounts[number]) for number in self._of_node.get(node, ())]

    def count_now(self, room: int, amount: Resources, nodes: Nodes) -> int:
        """Return how many services of this size fit into a present room, on these nodes only."""
        fits = _services(amount, lambda kind: self._free_now(room, kind))
        return int(fits[nodes].sum())

    def counts(self, amount: Resources, nodes: Nodes) -> Column:
        """Return how many services of this size fit on these nodes after the releases of each time."""
        before = _services(amount, lambda kind: self._column(kind)[0])
        added = _services(amount, lambda kind: self._column(kind)[1]) - before
        counted = nodes[self._nodes[self._order]]
        by_time = np.bincount(self._at[self._order][counted], weights=added[counted], minlength=len(self.times))
        start = self.count_now(len(self.rooms) - 1, amount, nodes)
        result: Column = start + np.cumsum(by_time).astype(np.int64)
        return result

    def ledger_at(self, time_s: float) -> Ledger:
        """Return accounts after the releases of this time and all earlier ones, which can be changed."""
        ledger = self.rooms[-1].copy()
        ledger.booked = None  # known only for executions that start now
        released = self._at < np.searchsorted(self.times, time_s, "right")
        nodes, size = self._nodes[released], len(ledger.nodes)
        for kind, free in (("cores", ledger.free_cores), ("memory", ledger.free_memory)):
            added = np.bincount(nodes, weights=self._column(kind)[2][released], minlength=size)
            free[:] = (np.array(free, dtype=np.int64) + added.astype(np.int64)).tolist()
        gone = np.bincount(nodes, minlength=size)
        ledger.services = (np.array(ledger.services, dtype=np.int64) - gone).tolist()
        ledger.free_cores_in_all = sum(cores for cores in ledger.free_cores if cores > 0)
        for number in np.flatnonzero(released).tolist():
            for kind, pieces in self._amounts[number].devices.items():
                devices = ledger.free_devices[self._nodes[number]]
                devices[kind] = devices.get(kind, 0) + pieces
        return ledger

    def _free_now(self, room: int, kind: str) -> Column:
        known = self._now.get((room, kind))
        if known is None:
            known = self._now[room, kind] = _free(self.rooms[room], kind)
        return known

    def _column(self, kind: str) -> tuple[Column, Column, Column]:
        """Return for each release, by node: the free amount before and after; and its amounts, in the given order."""
        known = self._columns.get(kind)
        if known is None:
            given = np.array([_amount(amount, kind) for amount in self._amounts], dtype=np.int64)
            nodes, added = self._nodes[self._order], given[self._order]
            first = np.flatnonzero(np.r_[True, nodes[1:] != nodes[:-1]]) if len(nodes) else np.array([], dtype=np.intp)
            sums = np.cumsum(added)
            earlier = np.repeat((sums - added)[first], np.diff(np.r_[first, len(nodes)]))
            after = self._free_now(len(self.rooms) - 1, kind)[nodes] + sums - earlier
            known = self._columns[kind] = (after - added, after, given)
        return known


def _services(amount: Resources, free: Callable[[str], Column]) -> Column:
    least: Column | None = None
    for kind in ("cores", "memory", *amount.devices):
        # An overdrawn node takes nothing, not even a service that needs none of this.
        size, there = _amount(amount, kind), free(kind)
        fits = there // size if size else np.where(there >= 0, MANY, 0)
        least = fits if least is None else np.minimum(least, fits)
    assert least is not None
    result: Column = np.maximum(least, 0)
    return result


def _amount(amount: Resources, kind: str) -> int:
    if kind == "cores":
        return amount.cores_milli
    return amount.memory_bytes if kind == "memory" else amount.devices.get(kind, 0)


def _free(ledger: Ledger, kind: str) -> Column:
    if kind == "cores":
        return np.array(ledger.free_cores, dtype=np.int64)
    if kind == "memory":
        return np.array(ledger.free_memory, dtype=np.int64)
    return np.array([devices.get(kind, 0) for devices in ledger.free_devices], dtype=np.int64)
