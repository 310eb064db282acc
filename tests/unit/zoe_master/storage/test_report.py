"""Reports of the store's bandwidth to users and Prometheus."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import REGISTRY

from storage_bridge.bandwidth.assignment import Capacity, TransferClaim
from storage_bridge.simulated import SimulatedController
from tests.support.promises import required_by
from zoe_lib.domain.executions.promises import Rates, TenantBandwidth
from zoe_master.background.metrics import observe_storage
from zoe_master.storage.reconciler import InlineReconciler
from zoe_master.storage.report import BandwidthReport, report
from zoe_master.storage.slo_reconciler import DesiredSlos

MB = 10**6
FROM_DISK = frozenset({"disk"})


def told(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"zoe_storage_{name}", labels)


def keeper_of(controller: SimulatedController) -> InlineReconciler:
    reconciler = InlineReconciler(controller)
    reconciler.set_desired(required_by({"a": Rates(80), "b": Rates(60)}))
    return reconciler


def controller() -> SimulatedController:
    """Return a controller with two tenants that read at once, from a disk that cannot deliver its promises."""
    claims = [TransferClaim("a", FROM_DISK), TransferClaim("b", FROM_DISK), TransferClaim("stranger", FROM_DISK)]
    return SimulatedController(Capacity(100, {"disk": 100}), lambda: claims)


def test_granted_achieved_and_missed_are_told_by_tenant() -> None:
    report = keeper_of(controller()).report()
    assert (report.problem, report.capacity, report.promised) == ("", Rates(100, 100), Rates(140))
    found = {
        name: (bandwidth.granted.read, bandwidth.achieved.read + bandwidth.missed.read)
        for name, bandwidth in report.tenants.items()
    }
    assert found["a"] == (80, 80)
    assert found["b"] == (60, 60)
    assert sum(tenant.missed.read for tenant in report.tenants.values()) >= 40
    assert report.tenants["stranger"].granted == Rates()


def test_grants_beyond_one_proxy_have_a_caveat() -> None:
    """Each of its executions by itself asks for less."""
    one = controller()
    capacity = replace(one.capacity(), one_proxy_bytes_per_s=60 * MB, proxies_bytes_per_s=90 * MB)
    granted = {"a": Rates(30 * MB, 30 * MB), "b": Rates(70 * MB), "c": Rates(70 * MB, 30 * MB)}
    caveats = report(one, granted, capacity).caveats
    assert caveats.keys() == {"b", "c"}
    assert caveats["b"].startswith("b is granted 70MB/s to read, but one proxy of the object store moves 60MB/s")
    assert "all proxies of the object store together move 90MB/s" in caveats["c"]
    assert report(one, granted, one.capacity()).caveats == {}


def test_that_the_controller_keeps_nothing_is_told() -> None:
    one = controller()
    capacity = replace(one.capacity(), unkept=("the controller bandwidth is off",))
    assert report(one, {}, capacity).unkept == ("the controller bandwidth is off",)
    assert report(one, {}, one.capacity()).unkept == ()


def test_a_controller_that_is_away_is_told_with_nothing_that_was_known_before() -> None:
    one = controller()
    reconciler = keeper_of(one)
    one.down = True
    reconciler.set_desired(DesiredSlos())
    report = reconciler.report()
    assert report.problem == "the storage controller cannot be reached"
    assert report.tenants == {}


def test_metrics_have_series_of_tenants_while_they_are_granted_bandwidth() -> None:
    observe_storage(keeper_of(controller()).report())
    assert told("controller_reachable") == 1
    assert told("granted_bytes_per_second", tenant="a", direction="read") == 80
    assert told("granted_bytes_per_second", tenant="stranger", direction="read") is None
    assert told("capacity_bytes_per_second", direction="write") == 100
    only_b = {"b": TenantBandwidth(Rates(60), Rates(70), Rates(5))}
    observe_storage(BandwidthReport(1.0, resting=True, tenants=only_b))
    assert told("granted_bytes_per_second", tenant="a", direction="read") is None
    assert told("achieved_bytes_per_second", tenant="b", direction="read") == 70
    assert told("missed_bytes_per_second", tenant="b", direction="read") == 5
    assert told("controller_resting") == 1
    observe_storage(None)
    assert told("controller_reachable") == 0
    assert told("granted_bytes_per_second", tenant="b", direction="read") is None


class Silent(SimulatedController):
    """Reports no traffic of tenants, like Crystal's own."""

    def achieved_bandwidth(self) -> None:  # type: ignore[override]
        pass

    def missed_bandwidth(self) -> None:  # type: ignore[override]
        pass


def test_untold_bandwidth_is_nowhere_zero() -> None:
    report = keeper_of(Silent(Capacity(100, {"disk": 100}))).report()
    untold = {"a": TenantBandwidth(Rates(80), None, None), "b": TenantBandwidth(Rates(60), None, None)}
    assert report.tenants == untold
    observe_storage(BandwidthReport(1.0, tenants={"a": TenantBandwidth(Rates(80), Rates(70), Rates(5))}))
    assert told("achieved_bytes_per_second", tenant="a", direction="read") == 70
    observe_storage(report)
    assert told("granted_bytes_per_second", tenant="a", direction="read") == 80
    for name in ("achieved_bytes_per_second", "missed_bytes_per_second"):
        assert told(name, tenant="a", direction="read") is None
