"""Use of an object store in a run: its size, and its part in applications and scheduler."""

from __future__ import annotations

from dataclasses import dataclass, field

from zoe_lib.domain.values.storage import Bandwidth, Guarantee, Pushdown, StorageDemand, StorageObject
from zoe_simulator.stores.hosted_store import HostedStore, Inputs, input_of
from zoe_simulator.stores.shared_store import SharedStore, StoreSize
from zoe_simulator.workload import Arrival


@dataclass(frozen=True, slots=True)
class StoreUse:
    """How the applications of a run use the object store.

    described: whether applications have a storage section. pushdown: only the selected part of their inputs is read.
    guarantee: how applications that prefer bandwidth request it; None: they do not. inputs: their places, if the
    machines are the hosts of the store.
    """

    size: StoreSize
    described: bool = False
    pushdown: bool = False
    guarantee: Guarantee | None = None
    inputs: Inputs = field(default_factory=dict)

    def store(self) -> SharedStore | HostedStore:
        """Return the store of a run."""
        return HostedStore(self.size.path, self.inputs) if self.inputs else SharedStore(self.size)

    @property
    def is_controlled(self) -> bool:
        """Return whether the master uses a controller."""
        return self.guarantee is not None or bool(self.inputs)

    def demand_of(self, arrival: Arrival) -> StorageDemand | None:
        """Return the application's storage section."""
        reading = arrival.reading
        if reading is None or not self.described:
            return None
        pushdown = Pushdown(columns=("wanted",)) if self.pushdown and reading.kept < 1 else None
        bandwidth = None
        if reading.promised is not None and self.guarantee is not None:
            bandwidth = Bandwidth(reading.promised, None, self.guarantee)
        source = StorageObject("input", input_of(arrival)[1], pushdown)
        return StorageDemand(inputs=(source,), bandwidth=bandwidth)

    def read_bytes_of(self, arrival: Arrival) -> float:
        """Return all bytes that the application reads."""
        if arrival.reading is None:
            return 0.0
        return arrival.reading.read_bytes * (arrival.reading.kept if self.pushdown else 1.0)
