"""What a run makes of an object store: how large it is, and what of it applications and scheduler know."""

from __future__ import annotations

from dataclasses import dataclass

from zoe_lib.domain.storage import Bandwidth, Guarantee, Pushdown, StorageDemand, StorageObject
from zoe_master.simulator.shared_store import StoreSize
from zoe_master.simulator.workload import Arrival


@dataclass(frozen=True, slots=True)
class StoreUse:
    """described: applications have a storage section; with `pushdown` only what is kept of their inputs is read, and
    those who wish for bandwidth ask for it with this `guarantee` (None: nobody asks)."""

    size: StoreSize
    described: bool = False
    pushdown: bool = False
    guarantee: Guarantee | None = None

    def demand_of(self, arrival: Arrival) -> StorageDemand | None:
        """Its storage section."""
        reading = arrival.reading
        if reading is None or not self.described:
            return None
        pushdown = Pushdown(columns=("wanted",)) if self.pushdown and reading.kept < 1 else None
        bandwidth = None
        if reading.promised is not None and self.guarantee is not None:
            bandwidth = Bandwidth(reading.promised, None, self.guarantee)
        source = StorageObject("input", f"swift2d://{arrival.tenant}.zoe/{arrival.number}", pushdown)
        return StorageDemand(inputs=(source,), bandwidth=bandwidth)

    def read_bytes_of(self, arrival: Arrival) -> float:
        """What it reads in all."""
        if arrival.reading is None:
            return 0.0
        return arrival.reading.read_bytes * (arrival.reading.kept if self.pushdown else 1.0)
