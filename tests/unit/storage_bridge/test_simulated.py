from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import Capacity, TransferClaim
from storage_bridge.base import StorageController
from storage_bridge.model import AchievedBandwidth, BandwidthSlo, StorageUnavailableError
from storage_bridge.simulated import SimulatedController
from tests.support.storage_contract import MB, StorageContract
from zoe_lib.domain.values.locality import InputObjects, Places

PLACES = Places(InputObjects(2, 20), InputObjects(2, 20), {"a": InputObjects(1, 10), "b": InputObjects(2, 20)})


def controller(*claims: TransferClaim) -> SimulatedController:
    return SimulatedController(
        Capacity(100, {"a": 80, "b": 80}), lambda: claims, {("acme", "swift2d://c.s/x"): PLACES}, floor=0
    )


def test_slos_shape_what_tenants_get() -> None:
    both = frozenset({"a", "b"})
    store: StorageController = controller(TransferClaim("x", both), TransferClaim("y", both))
    assert store.achieved_bandwidth() == {"x": AchievedBandwidth(50, 0), "y": AchievedBandwidth(50, 0)}
    store.set_slo("x", BandwidthSlo(read_bytes_per_s=60))
    assert store.achieved_bandwidth() == {"x": AchievedBandwidth(80, 0), "y": AchievedBandwidth(20, 0)}
    store.clear_slo("x")
    store.clear_slo("x")
    assert store.achieved_bandwidth()["x"] == AchievedBandwidth(50, 0)


class TestContract(StorageContract):
    """What every controller must do."""

    @pytest.fixture
    def controller(self) -> StorageController:
        return SimulatedController(Capacity(100 * MB, {"disk": 100 * MB}))


def test_places_are_what_was_told_at_the_start() -> None:
    assert controller().locality("acme", "swift2d://c.s/x") == PLACES


def test_a_controller_that_is_down_says_so() -> None:
    store = controller()
    store.down = True
    with pytest.raises(StorageUnavailableError):
        store.capacity()
