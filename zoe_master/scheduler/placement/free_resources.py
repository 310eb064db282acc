"""Free resources of every node while a plan is made; placements can be undone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import is_

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.cluster import Node, gateway_reservation
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.gateway import held_resources, required_resources
from zoe_lib.domain.values.frozen import once
from zoe_lib.domain.values.locality import Places
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Located
from zoe_master.scheduler.booking.bookings import BookingRoom
from zoe_master.scheduler.placement.paths import Paths, rates_of

Scores = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.intp]
# Index of a node, and the resources of one service there.
Holding = tuple[int, Resources]


class Ledger:
    """Accounts per node, indexed by position in `nodes` (sorted by name, so ties fall to the first name).

    Reservations of alive services are subtracted at the start. A node may be overdrawn when foreign use grew; then no
    service fits there until it is level again.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        active: Collection[Execution],
        locality: Mapping[Located, Places | None] | None = None,
        paths: Mapping[str, PathUse] | None = None,
    ) -> None:
        self._made_of: tuple[object, ...] = ()
        self._name_nodes(nodes)
        self.free_cores = [node.total.cores_milli - node.foreign.cores_milli for node in self.nodes]
        self.free_memory = [node.total.memory_bytes - node.foreign.memory_bytes for node in self.nodes]
        self.free_devices = [dict(node.usable.devices) if node.total.devices else {} for node in self.nodes]
        self.services = [0] * len(self.nodes)
        self.gateway = gateway_reservation(self.nodes)
        self.booked: BookingRoom | None = None
        """Room that must stay free for promised executions; None without bookings."""
        self.changes: list[int] = []
        """Nodes in the sequence in which their accounts changed."""
        self._holdings = {execution.id: self._compute_holdings(execution) for execution in active}
        for holdings in self._holdings.values():
            self._take_off(holdings)
        self.free_cores_in_all = sum(cores for cores in self.free_cores if cores > 0)
        """Sum of all nodes, in thousandths; an overdraft of one node is not subtracted from others."""
        self._find_ways(active, locality or {}, paths or {})

    def _name_nodes(self, nodes: Iterable[Node]) -> None:
        self.nodes = tuple(sorted(nodes, key=lambda node: node.name))
        self.index = {node.name: i for i, node in enumerate(self.nodes)}

    def _find_ways(
        self,
        active: Collection[Execution],
        locality: Mapping[Located, Places | None],
        paths: Mapping[str, PathUse],
    ) -> None:
        self.locality = {text: places for text, places in locality.items() if places is not None and places.hosts}
        """Nodes that hold inputs: how much of each input, by its name."""
        rates, moved = rates_of(self.nodes, paths)
        self.paths = Paths(rates, moved, self.index, active, self.services) if any(rates) else None
        """Paths to the object store; None if no node reports one."""

    @once
    def largest_memory(self) -> int:
        """Return the memory of the largest node in bytes; 0 for none."""
        return max((node.total.memory_bytes for node in self.nodes), default=0)

    def copy(self) -> Ledger:
        """Return a copy of the accounts that can be changed independently."""
        twin = Ledger.__new__(Ledger)
        twin.__dict__ |= self.__dict__
        twin.free_cores = list(self.free_cores)
        twin.free_memory = list(self.free_memory)
        twin.free_devices = [dict(devices) for devices in self.free_devices]
        twin.services = list(self.services)
        twin.changes = []
        return twin

    def updated_for(
        self,
        nodes: Iterable[Node],
        active: Collection[Execution],
        locality: Mapping[Located, Places | None],
        paths: Mapping[str, PathUse],
    ) -> Ledger:
        """Return a copy for the same nodes in their present state, independent of `count` and `discount`."""
        twin = self.copy()
        twin._holdings = dict(self._holdings)
        twin._name_nodes(nodes)
        twin._find_ways(active, locality, paths)
        twin._made_of = (nodes, active, locality, paths)
        return twin

    def made_of(self, *made_of: object) -> bool:
        """Return whether `updated_for` was called with these very objects."""
        return len(self._made_of) == len(made_of) and all(map(is_, self._made_of, made_of))

    def count(self, execution: Execution) -> None:
        """Subtract the execution's present resources, instead of its earlier ones."""
        self.discount(execution.id)
        holdings = self._holdings[execution.id] = self._compute_holdings(execution)
        for node, amount in holdings:
            self.take(node, amount)

    def discount(self, execution_id: ExecutionId) -> None:
        """Release all resources of an execution."""
        for node, amount in self._holdings.pop(execution_id, ()):
            self.give_back(node, amount)

    def without_services(self, with_foreign: bool = False) -> Ledger:
        """Return accounts of the same nodes without services; `with_foreign`: with foreign use only."""
        twin = self.copy()
        there = [node.usable if with_foreign else node.total for node in self.nodes]
        twin.free_cores = [amount.cores_milli for amount in there]
        twin.free_memory = [amount.memory_bytes for amount in there]
        twin.free_devices = [dict(amount.devices) for amount in there]
        twin.services = [0] * len(self.nodes)
        twin.booked = None
        twin.free_cores_in_all = sum(cores for cores in twin.free_cores if cores > 0)
        return twin

    def lower_to(self, other: Ledger) -> None:
        """Set each amount to the minimum of both accounts."""
        self.free_cores = list(map(min, self.free_cores, other.free_cores))
        self.free_memory = list(map(min, self.free_memory, other.free_memory))
        self.free_cores_in_all = sum(cores for cores in self.free_cores if cores > 0)
        self.free_devices = [
            {kind: min(amount, other_free.get(kind, 0)) for kind, amount in free.items()}
            for free, other_free in zip(self.free_devices, other.free_devices, strict=True)
        ]

    def set_to_lower(self, node: int, one: Ledger, other: Ledger) -> None:
        """Set this node to the minimum of both accounts for each amount; services as in the first."""
        before = self.free_cores[node]
        after = self.free_cores[node] = min(one.free_cores[node], other.free_cores[node])
        self.free_cores_in_all += max(after, 0) - max(before, 0)
        self.free_memory[node] = min(one.free_memory[node], other.free_memory[node])
        other_free = other.free_devices[node]
        self.free_devices[node] = {k: min(free, other_free.get(k, 0)) for k, free in one.free_devices[node].items()}
        self.services[node] = one.services[node]
        self.changes.append(node)

    def holdings(self, execution: Execution) -> list[Holding]:
        """Return node and amount of every service of the execution that holds resources."""
        known = self._holdings.get(execution.id)
        if known is None:
            known = self._holdings[execution.id] = self._compute_holdings(execution)
        return known

    def _compute_holdings(self, execution: Execution) -> list[Holding]:
        return [
            (self.index[service.node], amount)
            for service, amount in held_resources(execution, self.gateway)
            if service.node in self.index
        ]

    def holdings_at(self, execution: Execution, placements: Iterable[Placement]) -> list[Holding]:
        """Return node and amount of every placement of the execution."""
        services = {service.id: service for service in execution.services}
        return [
            (self.index[p.node], required_resources(execution, services[p.service_id], self.gateway))
            for p in placements
        ]

    def take(self, node: int, amount: Resources) -> None:
        """Reserve an amount for one service."""
        self._change(node, amount, -1)

    def give_back(self, node: int, amount: Resources) -> None:
        """Undo one `take`."""
        self._change(node, amount, 1)

    def lacks_cores(self, cores_milli: int) -> bool:
        """Return whether all nodes together have too few free cores: a quick check before any placement is tried."""
        return cores_milli > self.free_cores_in_all

    def free(self, node: int) -> Resources:
        """Return the free resources of a node."""
        return Resources(self.free_cores[node], self.free_memory[node], self.free_devices[node])

    def with_room(self, nodes: Iterable[int], amount: Resources) -> list[int]:
        """Return the nodes with this much left; an exact fit counts."""
        cores, memory, free_cores, free_memory = (
            amount.cores_milli,
            amount.memory_bytes,
            self.free_cores,
            self.free_memory,
        )
        found = [i for i in nodes if free_cores[i] >= cores and free_memory[i] >= memory]
        for kind, pieces in amount.devices.items():
            found = [i for i in found if self.free_devices[i].get(kind, 0) >= pieces]
        return found

    def _take_off(self, holdings: Iterable[Holding]) -> None:
        """Subtract like `take`, for many thousands before the first read."""
        for node, amount in holdings:
            self.free_cores[node] -= amount.cores_milli
            self.free_memory[node] -= amount.memory_bytes
            self.services[node] += 1
            devices = self.free_devices[node]
            for kind, pieces in amount.devices.items():
                devices[kind] = devices.get(kind, 0) - pieces

    def _change(self, node: int, amount: Resources, sign: int) -> None:
        self.changes.append(node)
        before = self.free_cores[node]
        after = self.free_cores[node] = before + sign * amount.cores_milli
        self.free_cores_in_all += max(after, 0) - max(before, 0)
        self.free_memory[node] += sign * amount.memory_bytes
        self.services[node] -= sign
        if amount.devices:
            devices = self.free_devices[node]
            for kind, pieces in amount.devices.items():
                devices[kind] = devices.get(kind, 0) + sign * pieces
