"""A quick test that settles most of a long queue: an execution whose core surely finds no room.

Room only shrinks in a pass, so a check made earlier never refuses what fits. Labels and holds are considered; bookings,
filters of plugins and the mixture of several components are not: what passes this test may still be refused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.gateway import NO_GATEWAY, core_groups, core_total
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.core_columns import Column, Mask, ServiceColumns
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.usable_nodes import NodesKey, UsableNodes

# Kinds of components, by the nodes that they may use, with columns of their own; further kinds are checked as if they
# could use every node.
_KEYS_MAX = 64

_ANY: NodesKey = ((), "", -1)


class CapacityCheck:
    """The test for one room, by the amounts at the first question or the last `refresh`."""

    def __init__(self, placer: ServicePlacer, usable: UsableNodes | None = None) -> None:
        self._ledger = placer.ledger
        self._usable = usable or UsableNodes(placer)
        self._seen = len(placer.ledger.changes)
        self._by_key: dict[NodesKey, FreeNodes] = {}
        self._stale: dict[NodesKey, FreeNodes] = {}  # those of before the last `refresh`
        self._bears_gateway = placer.ledger.gateway != NO_GATEWAY

    def may_have_room(self, execution: Execution) -> bool:
        """Return False if the core certainly does not fit."""
        application, by_key, key_of = execution.application, self._by_key, self._usable.key
        # Called for each execution of a long queue, so without a call where a value is known.
        groups = core_groups(application, self._ledger.gateway) if self._bears_gateway else application.core_groups
        for component, count in groups:
            key = key_of(component, execution)
            nodes = by_key.get(key)
            if nodes is None:
                nodes = self._nodes_for(component, execution, key)
            if not nodes.may_hold(component.reservation, count):
                return False
        return len(groups) < 2 or self._may_hold_sum(execution)

    def settle(self, columns: ServiceColumns) -> tuple[Mask, Mask]:
        """Return which of these executions may pass `may_have_room`, and which pass it for certain; from their columns
        alone, where a core is plain and all nodes take it at any time.
        """
        may = np.ones(len(columns.plain), dtype=np.bool_)
        surely = ~may
        if self._bears_gateway or self._usable.has_holds or columns.first is None:
            return may, surely
        component, _ = columns.first.application.core_groups[0]
        key = self._usable.key(component, columns.first)
        nodes = self._by_key.get(key) or self._nodes_for(component, columns.first, key)
        fits, certain = nodes.may_hold_each(columns)
        return fits | ~columns.plain, certain & columns.plain

    def _may_hold_sum(self, execution: Execution) -> bool:
        """Return False if its nodes together have less than all its services need, each group of which may fit."""
        groups = core_groups(execution.application, self._ledger.gateway)
        asked = {self._usable.key(component, execution): component for component, _ in groups}
        some = [self._by_key[key if key in self._by_key else _ANY] for key in asked]
        if any(not component.labels for component in asked.values()):
            some = [max(some, key=len)]  # without labels, they may use the nodes of all others
        wanted = core_total(execution.application, self._ledger.gateway)
        return wanted.cores_milli <= sum(nodes.free_cores for nodes in some) and wanted.memory_bytes <= sum(
            nodes.free_memory for nodes in some
        )

    def refresh(self) -> None:
        """Use the present amounts from now on: to be called when an execution that passed found no room."""
        changes = len(self._ledger.changes)
        if self._seen != changes:
            self._seen = changes
            self._stale |= self._by_key
            self._by_key.clear()

    def _nodes_for(self, component: Component, execution: Execution, key: NodesKey) -> FreeNodes:
        if len(self._by_key) >= _KEYS_MAX:
            key = _ANY
            if key in self._by_key:
                return self._by_key[key]
        found = self._stale.pop(key, None)
        if found is None:
            everywhere = range(len(self._ledger.nodes))
            found = FreeNodes(self._ledger, everywhere if key is _ANY else self._usable.nodes(component, execution))
        else:
            found.update()
        self._by_key[key] = found
        return found


_Lists = tuple[list[int], list[int], list[int], list[int], list[int]]


class FreeNodes:
    """The free amounts of some nodes at one moment, in columns that are sorted by free cores, the most first."""

    def __init__(self, ledger: Ledger, nodes: Sequence[int]) -> None:
        self._ledger = ledger
        self._seen = len(ledger.changes)
        self._nodes = np.array(nodes, dtype=np.intp)
        self._cores: Column = np.array(ledger.free_cores, dtype=np.int64)[self._nodes]
        self._memory: Column = np.array(ledger.free_memory, dtype=np.int64)[self._nodes]
        self._sort()

    def __len__(self) -> int:
        return len(self._nodes)

    def update(self) -> None:
        """Use the present amounts of the nodes that have changed: a fraction of making the columns anew."""
        ledger, positions = self._ledger, np.full(len(self._ledger.nodes), -1, dtype=np.intp)
        positions[self._nodes] = np.arange(len(self._nodes))
        for node in set(ledger.changes[self._seen :]):
            position = positions[node]
            if position >= 0:
                self._cores[position] = ledger.free_cores[node]
                self._memory[position] = ledger.free_memory[node]
        self._seen = len(ledger.changes)
        self._sort()

    def _sort(self) -> None:
        """Sort the columns, and sum them up."""
        order = np.argsort(-self._cores, kind="stable")
        self._nodes, self._cores, self._memory = self._nodes[order], self._cores[order], self._memory[order]
        self._devices: dict[str, Column] = {}
        self._rising = -self._cores
        # The largest memory of the nodes with as many cores or more.
        self._largest_memory = np.maximum.accumulate(self._memory)
        self._least_memory = np.minimum.accumulate(self._memory)
        self._cores_so_far = np.cumsum(self._cores)
        self._memory_so_far = np.cumsum(np.maximum(self._memory, 0))
        self._known: dict[Hashable, bool] = {}
        self._lists: _Lists | None = None
        self.free_cores = int(np.maximum(self._cores, 0).sum())
        """The free cores of all in thousandths; no node makes up for another's overdraft."""
        self.free_memory = int(np.maximum(self._memory, 0).sum())
        """The free memory of all in bytes."""

    def _as_lists(self) -> _Lists:
        """Return the columns as lists, made at the first use: single elements of columns are slow to read."""
        if self._lists is None:
            columns = self._rising, self._largest_memory, self._least_memory, self._cores_so_far, self._memory_so_far
            rising, largest, least, cores, memory = (column.tolist() for column in columns)
            self._lists = rising, largest, least, cores, memory
        return self._lists

    def may_hold(self, amount: Resources, count: int) -> bool:
        """Return whether so many services of this size fit, without other filters."""
        cores_milli, memory_bytes = amount.cores_milli, amount.memory_bytes
        rising, largest_memory, least_memory, cores_so_far, memory_so_far = self._lists or self._as_lists()
        enough = bisect_left(rising, 1 - cores_milli)  # the nodes with so many cores
        if not enough or largest_memory[enough - 1] < memory_bytes:
            return False
        if count == 1 and not amount.devices:
            return True
        if not (cores_milli or memory_bytes or amount.devices):
            return True
        if count <= enough and least_memory[count - 1] >= memory_bytes and not amount.devices:
            return True  # one on each of the first nodes
        last = enough - 1
        if cores_so_far[last] < cores_milli * count or memory_so_far[last] < memory_bytes * count:
            return False
        key = cores_milli, memory_bytes, tuple(amount.devices.items()), count
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._may_hold_by_nodes(amount, count, enough)
        return known

    def may_hold_each(self, columns: ServiceColumns) -> tuple[Mask, Mask]:
        """Return for each row whether `may_hold` may be true, and whether it is for certain, without devices."""
        cores, memory, count = columns.cores, columns.memory, columns.count
        enough = np.searchsorted(self._rising, 1 - cores)
        if not len(self._nodes):
            return enough > 0, enough > 0
        last = enough - 1  # without a node: the last one, whose answer does not count
        fits = (enough > 0) & (self._largest_memory[last] >= memory)
        least = self._least_memory[np.minimum(count, len(self._nodes)) - 1]
        certain = (count == 1) | ((cores == 0) & (memory == 0)) | ((count <= enough) & (least >= memory))
        short = self._cores_so_far[last] < cores * count
        short |= self._memory_so_far[last] < memory * count
        return fits & (certain | ~short), fits & certain

    def _may_hold_by_nodes(self, amount: Resources, count: int, enough: int) -> bool:
        """Return whether so many services fit on the first nodes, each of which has the cores for one."""
        fits = self._memory[:enough] >= amount.memory_bytes
        for kind, pieces in amount.devices.items():
            fits &= self._pieces(kind)[:enough] >= pieces
        some = fits.nonzero()[0]
        return len(some) >= count or self._count(amount, some) >= count

    def _count(self, amount: Resources, some: npt.NDArray[np.intp]) -> int:
        """Return how many services fit on these nodes, each of which has room for one."""
        asked = [(self._cores, amount.cores_milli), (self._memory, amount.memory_bytes)]
        asked += [(self._pieces(kind), pieces) for kind, pieces in amount.devices.items()]
        fits = [column[some] // each for column, each in asked if each]
        return int(np.minimum.reduce(fits).sum())

    def _pieces(self, kind: str) -> Column:
        known = self._devices.get(kind)
        if known is None:
            pieces = [self._ledger.free_devices[node].get(kind, 0) for node in self._nodes]
            known = self._devices[kind] = np.array(pieces, dtype=np.int64)
        return known
