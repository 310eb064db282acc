"""What users and Prometheus are told of the store's bandwidth."""

from __future__ import annotations

from prometheus_client import REGISTRY

from storage_bridge.bandwidth.assignment import Capacity, Claim
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.promises import Rates
from zoe_master.storage import InlineKeeper, Wanted
from zoe_master.storage_metrics import observe_storage
from zoe_master.storage_report import StorageReport, TenantBandwidth

FROM_DISK = frozenset({"disk"})


def told(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"zoe_storage_{name}", labels)


def keeper_of(controller: SimulatedController) -> InlineKeeper:
    keeper = InlineKeeper(controller)
    keeper.want(Wanted({"a": Rates(80), "b": Rates(60)}))
    return keeper


def controller() -> SimulatedController:
    """Two tenants that read at once, from a disk that cannot do what was promised."""
    claims = [Claim("a", FROM_DISK), Claim("b", FROM_DISK), Claim("stranger", FROM_DISK)]
    return SimulatedController(Capacity(100, {"disk": 100}), lambda: claims)


def test_granted_achieved_and_missed_are_told_by_tenant() -> None:
    report = keeper_of(controller()).report()
    assert (report.problem, report.capacity, report.promised) == ("", Rates(100, 100), Rates(140))
    found = {name: (one.granted.read, one.achieved.read + one.missed.read) for name, one in report.tenants.items()}
    assert found["a"] == (80, 80)
    assert found["b"] == (60, 60)
    assert sum(one.missed.read for one in report.tenants.values()) >= 40
    assert report.tenants["stranger"].granted == Rates()


def test_a_controller_that_is_away_is_told_with_nothing_that_was_known_before() -> None:
    one = controller()
    keeper = keeper_of(one)
    one.down = True
    keeper.want(Wanted({}))
    report = keeper.report()
    assert report.problem == "the storage controller cannot be reached"
    assert report.tenants == {}


def test_metrics_have_series_of_tenants_while_they_are_granted_bandwidth() -> None:
    observe_storage(keeper_of(controller()).report())
    assert told("controller_reachable") == 1
    assert told("granted_bytes_per_second", tenant="a", direction="read") == 80
    assert told("granted_bytes_per_second", tenant="stranger", direction="read") is None
    assert told("capacity_bytes_per_second", direction="write") == 100
    only_b = {"b": TenantBandwidth(Rates(60), Rates(70), Rates(5))}
    observe_storage(StorageReport(1.0, resting=True, tenants=only_b))
    assert told("granted_bytes_per_second", tenant="a", direction="read") is None
    assert told("achieved_bytes_per_second", tenant="b", direction="read") == 70
    assert told("missed_bytes_per_second", tenant="b", direction="read") == 5
    assert told("controller_resting") == 1
    observe_storage(None)
    assert told("controller_reachable") == 0
    assert told("granted_bytes_per_second", tenant="b", direction="read") is None
