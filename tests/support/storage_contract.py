"""Contract of every storage controller: inherit the tests and provide the fixture."""

from __future__ import annotations

import contextlib

import pytest

from storage_bridge.base import StorageController
from storage_bridge.model import BandwidthDemand, BandwidthSlo, StorageRefusedError, View

MB = 1_000_000


class StorageContract:
    """Needs a fixture `controller`: fresh, with nothing promised, of at least 100 MB/s each way."""

    @pytest.fixture
    def controller(self) -> StorageController:
        raise NotImplementedError

    def test_new_controller_has_no_slos_and_no_views(self, controller: StorageController) -> None:
        assert dict(controller.slos()) == {}
        assert list(controller.views()) == []
        capacity = controller.capacity()
        assert min(capacity.read_bytes_per_s, capacity.write_bytes_per_s) >= 100 * MB
        assert capacity.promised_read_bytes_per_s == capacity.promised_write_bytes_per_s == 0

    def test_an_slo_is_in_force_once_set_replaced_by_the_next_and_gone_once_cleared(
        self, controller: StorageController
    ) -> None:
        controller.set_slo("a", BandwidthSlo(10 * MB, 5 * MB))
        controller.set_slo("b", BandwidthSlo(20 * MB))
        assert dict(controller.slos()) == {"a": BandwidthSlo(10 * MB, 5 * MB), "b": BandwidthSlo(20 * MB)}
        controller.set_slo("a", BandwidthSlo(write_bytes_per_s=7 * MB))
        assert dict(controller.slos()) == {"a": BandwidthSlo(None, 7 * MB), "b": BandwidthSlo(20 * MB)}
        controller.clear_slo("a")
        assert dict(controller.slos()) == {"b": BandwidthSlo(20 * MB)}

    def test_an_slo_beyond_all_capacity_is_taken_or_the_one_before_stays(self, controller: StorageController) -> None:
        before, much = BandwidthSlo(10 * MB, 5 * MB), BandwidthSlo(11 * MB, 10**6 * MB)
        controller.set_slo("a", before)
        refused = False
        try:
            controller.set_slo("a", much)
        except StorageRefusedError:
            refused = True
        assert dict(controller.slos()) == {"a": before if refused else much}

    def test_calls_may_be_repeated(self, controller: StorageController) -> None:
        for _ in range(2):
            controller.set_slo("a", BandwidthSlo(10 * MB))
        assert dict(controller.slos()) == {"a": BandwidthSlo(10 * MB)}
        for _ in range(2):
            controller.clear_slo("a")
        controller.clear_slo("never there")
        assert dict(controller.slos()) == {}

    def test_promises_are_counted_and_bounded_by_the_capacity(self, controller: StorageController) -> None:
        controller.set_slo("a", BandwidthSlo(60 * MB, 10 * MB))
        capacity = controller.capacity()
        assert (capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s) == (60 * MB, 10 * MB)
        left = capacity.read_bytes_per_s - 60 * MB
        assert controller.feasible(BandwidthDemand("b", BandwidthSlo(left))).feasible
        refused = controller.feasible(BandwidthDemand("b", BandwidthSlo(left + MB)))
        assert not refused.feasible
        assert refused.sentence

    def test_views_come_and_go_and_both_may_be_repeated(self, controller: StorageController) -> None:
        types, csv = (("vid", "string"), ("kwh", "double"), ("a", "date")), (("header", False), ("delimiter", ";"))
        names = ("vid", "kwh", "a", "city")
        one = View("v1", "a", "swift2d://meters.zoe/2015", ("city",), "city = 'Nice'", types, names, csv)
        other = View("v2", "b", "swift2d://meters.zoe/2016")
        for view in (one, other, one):
            controller.create_view(view)
        assert sorted(controller.views(), key=lambda v: v.id) == [one, other]
        for _ in range(2):
            controller.drop_view("v1")
        assert list(controller.views()) == [other]

    def test_tenants_and_objects_that_nobody_knows_have_nothing(self, controller: StorageController) -> None:
        achieved = controller.achieved_bandwidth()
        assert achieved is not None
        assert "stranger" not in achieved
        assert controller.missed_bandwidth() == {}
        with contextlib.suppress(StorageRefusedError):
            assert controller.locality("a", "swift2d://nothing.zoe/here") is None
