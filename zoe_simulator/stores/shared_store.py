"""An object store from which simulated applications read: by tenants' shares, through the paths of their nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage_bridge.bandwidth.assignment import Capacity, TransferClaim
from storage_bridge.simulated import SimulatedController
from zoe_simulator.progress import Progress

_DISKS = "disks"


@dataclass(frozen=True, slots=True)
class StoreSize:
    """Bytes per second: of the whole store, of each node's path to it, and the floor of a tenant."""

    store: int
    path: int
    floor: int


@dataclass(frozen=True, slots=True)
class Reader:
    """An application that reads now, and how many of its components run on each node."""

    tenant: str
    progress: Progress
    components: Mapping[str, int]


class SharedStore:
    """Gives every reader its bandwidth. `controller` holds the SLOs.

    A node's readers can use at most its path (max-min among them). Then the bandwidth algorithm shares the store among
    tenants; within a tenant its applications share equally, whichever of them has a guarantee.
    """

    def __init__(self, size: StoreSize) -> None:
        self._size = size
        self._claims: Sequence[TransferClaim] = ()
        self.controller = SimulatedController(
            Capacity(size.store, {_DISKS: size.store}), lambda: self._claims, floor=size.floor
        )

    def share(self, readers: Sequence[Reader]) -> None:
        """Set the bandwidth of all present readers."""
        usable = self._through_paths(readers)
        of_tenant: dict[str, list[int]] = defaultdict(list)
        for i, reader in enumerate(readers):
            of_tenant[reader.tenant].append(i)
        disks = frozenset({_DISKS})
        self._claims = [
            TransferClaim(tenant, disks, demand=max(int(sum(usable[i] for i in numbers)), 1))
            for tenant, numbers in sorted(of_tenant.items())
        ]
        assignment = self.controller.assignment()
        for tenant, numbers in of_tenant.items():
            parts = max_min([usable[i] for i in numbers], float(assignment.total(tenant)))
            for i, part in zip(numbers, parts, strict=True):
                readers[i].progress.bandwidth = part

    def _through_paths(self, readers: Sequence[Reader]) -> list[float]:
        wanted: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for i, reader in enumerate(readers):
            count = sum(reader.components.values())
            for node, here in reader.components.items():
                wanted[node].append((i, reader.progress.demand * here / count))
        usable = [0.0] * len(readers)
        for users in wanted.values():
            for (i, _), part in zip(users, max_min([want for _, want in users], self._size.path), strict=True):
                usable[i] += part
        return usable


def max_min(wanted: Sequence[float], room: float) -> list[float]:
    """Return equal parts that exceed no demand (progressive filling)."""
    parts = [0.0] * len(wanted)
    for left, i in zip(range(len(wanted), 0, -1), sorted(range(len(wanted)), key=wanted.__getitem__), strict=True):
        parts[i] = min(wanted[i], room / left)
        room -= parts[i]
    return parts
