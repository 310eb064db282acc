"""The object store of the study of promises: enforcement and simulation are the same, since both use the bandwidth
algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.promises.applications import TENANT, ApplicationWork
from storage_bridge.bandwidth.assignment import Capacity, TransferClaim, assign, claimant
from storage_bridge.model import TransferTotals
from storage_bridge.simulated import SimulatedController

_DISKS = "disks"
_FLOOR = 1


class GuaranteedStore:
    """A store that moves `capacity` bytes per second in total, shared by max-min among executions, guarantees first.

    `controller` is the master's interface; executions have separate credentials, with their guarantees.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._size = Capacity(capacity, {_DISKS: capacity})
        self.controller = SimulatedController(self._size, floor=_FLOOR)
        self.controller.with_credentials = True

    def guaranteed_rates(self) -> dict[str, int]:
        """Return the guaranteed bytes per second for reading, by execution."""
        there = self.controller.executions() or {}
        return {name: bandwidth.slo.read_bytes_per_s or 0 for name, bandwidth in there.items()}

    def share(self, reading: Mapping[str, ApplicationWork], guaranteed: Mapping[str, int]) -> None:
        """Set the bandwidth of all running work, by the name of its execution."""
        demands = {name: round(work.demand) for name, work in reading.items()}
        rates = self.rates(demands, guaranteed)
        spare = self.capacity - sum(rates.values())
        for name, work in reading.items():
            work.bandwidth = min(float(rates.get(name, 0)), work.demand)
            work.there = work.bandwidth + spare

    def rates(self, demands: Mapping[str, int], guaranteed: Mapping[str, int]) -> Mapping[str, int]:
        """Return bytes per second by execution, for those with a demand: never more than the capacity in total."""
        disks = frozenset({_DISKS})
        claims = [
            TransferClaim(claimant(TENANT, name), disks, slo=guaranteed.get(name) or None, demand=demand)
            for name, demand in demands.items()
            if demand > 0
        ]
        found = assign(claims, self._size, _FLOOR)
        return {name: found.total(claimant(TENANT, name)) for name, demand in demands.items() if demand > 0}

    def count(self, reading: Mapping[str, ApplicationWork]) -> None:
        """Report the transfers so far to the controller."""
        for name, work in reading.items():
            self.controller.totals[name] = TransferTotals(int(work.read_so_far), 0, work.transferring_s, work.waiting_s)
