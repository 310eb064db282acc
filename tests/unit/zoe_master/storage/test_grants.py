"""One tick decides and promises by one observation of the storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.base import StorageController
from storage_bridge.simulated import SimulatedController
from tests.simulation.world import World, application, component, node
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, Located, StorageDemand
from zoe_master.storage.slo_reconciler import DesiredSlos, StorageState

MB = 1_000_000


class Shrinking:
    """A controller whose supply changes with each request; desired SLOs are in force at once."""

    def __init__(self, *supplies: int) -> None:
        self._supplies = list(supplies)
        self.desired: list[DesiredSlos] = []
        self._held: frozenset[str] = frozenset()

    def last_state(self) -> StorageState:
        megabytes = self._supplies.pop(0) if len(self._supplies) > 1 else self._supplies[0]
        rates = Rates(megabytes * MB, megabytes * MB)
        return StorageState(BandwidthSupply(rates), held=self._held)

    def set_desired(self, desired: DesiredSlos) -> StorageState:
        self.desired.append(desired)
        self._held = frozenset(promise.execution_id for promise in desired.promises)
        return self.last_state()

    def locate(self, objects: frozenset[Located]) -> None:
        pass

    def places(self) -> Mapping[Located, Any]:
        return {}

    def moved_bytes(self) -> None:
        return None

    def close(self) -> None:
        pass


@pytest.mark.parametrize("after", [0, 10, 59])
def test_tick_promises_by_the_observation_it_decided_by(after: int) -> None:
    storage = Shrinking(100, after)

    class Kept(World):
        def keeper_of(self, _controller: StorageController) -> Shrinking:
            return storage

    world = Kept([node("n1")], controller=SimulatedController(Capacity(MB, {"disk": MB})))
    demand = StorageDemand(bandwidth=Bandwidth(60 * MB, None, Guarantee.PREFERRED))
    execution_id = world.submit(application(component("c", 1, 1), storage=demand))
    world.tick()
    assert [promise.execution_id for promise in storage.desired[-1].promises] == [execution_id]
