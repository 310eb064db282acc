from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import Capacity, Claim
from storage_bridge.base import StorageController
from storage_bridge.model import Achieved, BandwidthDemand, BandwidthSlo, StorageUnavailableError, View
from storage_bridge.simulated import SimulatedController


def controller(*claims: Claim) -> SimulatedController:
    return SimulatedController(Capacity(100, {"a": 80, "b": 80}), lambda: claims, {"swift2d://c.s/x": ["a"]}, floor=0)


def test_slos_shape_what_tenants_get() -> None:
    both = frozenset({"a", "b"})
    store: StorageController = controller(Claim("x", both), Claim("y", both))
    assert store.achieved() == {"x": Achieved(50, 0), "y": Achieved(50, 0)}
    store.set_slo("x", BandwidthSlo(read_bytes_per_s=60))
    assert store.achieved() == {"x": Achieved(80, 0), "y": Achieved(20, 0)}
    store.clear_slo("x")
    store.clear_slo("x")
    assert store.achieved()["x"] == Achieved(50, 0)


def test_capacity_and_what_is_promised_of_it() -> None:
    store = controller()
    store.set_slo("x", BandwidthSlo(60, 10))
    assert (store.capacity().read_bytes_per_s, store.capacity().promised_read_bytes_per_s) == (100, 60)
    assert store.feasible(BandwidthDemand("y", BandwidthSlo(40))).feasible
    refused = store.feasible(BandwidthDemand("y", BandwidthSlo(41)))
    assert not refused.feasible
    assert "101" in refused.sentence


def test_views_and_places() -> None:
    store = controller()
    view = View("v", "x", "swift2d://c.s/x")
    store.create_view(view)
    store.create_view(view)
    assert store.views() == [view]
    store.drop_view("v")
    store.drop_view("v")
    assert store.views() == []
    assert store.locality("swift2d://c.s/x") == ("a",)


def test_a_controller_that_is_down_says_so() -> None:
    store = controller()
    store.down = True
    with pytest.raises(StorageUnavailableError):
        store.capacity()
