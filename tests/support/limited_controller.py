"""A storage controller with a maximum promise per tenant."""

from __future__ import annotations

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo, StorageRefusedError, StorageUnavailableError
from storage_bridge.simulated import SimulatedController

SAYS = "that is more than one tenant may have"


class Limited(SimulatedController):
    """Refuses SLOs above `most` bytes per second to read; does not answer to them while `silent` is set.

    `asked`: all requested SLOs, `lowered`: how often one was lowered or removed.
    """

    def __init__(self, capacity: Capacity, most: int, silent: bool = False) -> None:
        super().__init__(capacity)
        self.most = most
        self.silent = silent
        self.asked: list[int] = []
        self.lowered = 0

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        read = slo.read_bytes_per_s or 0
        self.asked.append(read)
        if read > self.most and self.silent:
            raise StorageUnavailableError("it hangs")
        if read > self.most:
            raise StorageRefusedError("PUT /somewhere answers 409", SAYS)
        before = self.in_force.get(tenant, BandwidthSlo()).read_bytes_per_s or 0
        self.lowered += read < before
        super().set_slo(tenant, slo)

    def clear_slo(self, tenant: str) -> None:
        self.lowered += 1
        super().clear_slo(tenant)
