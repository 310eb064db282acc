"""Stored reports of the storage controller, for charts."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from tests.support.stores import NOBODY_LISTENS
from tests.unit.zoe_master.storage.test_report import Silent, controller, keeper_of
from zoe_lib.domain.executions.promises import Rates, TenantBandwidth
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import BandwidthPoint
from zoe_master.storage.reconciler import InlineReconciler
from zoe_master.storage.report import BandwidthReport, store_report
from zoe_master.storage.slo_reconciler import DesiredSlos


def kept(store: PostgresStore) -> list[BandwidthPoint]:
    return list(store.bandwidth_over_time(0.0, 1e12, 1e12))


def test_untold_bandwidth_is_kept_as_unknown(store: PostgresStore) -> None:
    report = keeper_of(Silent(Capacity(100, {"disk": 100}))).report()
    store_report(report, store)
    assert {point.tenant: point.means for point in kept(store)} == {
        "a": TenantBandwidth(Rates(80), None, None),
        "b": TenantBandwidth(Rates(60), None, None),
    }


def test_a_look_is_kept_with_whoever_has_something_of_the_store(store: PostgresStore) -> None:
    one = TenantBandwidth(Rates(60), Rates(70, 1), Rates(5))
    tenants = {"b": one, "granted": TenantBandwidth(Rates(9)), "idle": TenantBandwidth()}
    store_report(BandwidthReport(at_s=7.0, tenants=tenants), store)
    assert kept(store) == [BandwidthPoint(0.0, "b", one), BandwidthPoint(0.0, "granted", TenantBandwidth(Rates(9)))]


def test_a_look_that_found_nothing_out_is_not_kept(store: PostgresStore) -> None:
    one = controller()
    reconciler = keeper_of(one)
    store_report(reconciler.report(), store)
    before = kept(store)
    assert {point.tenant for point in before} == {"a", "b", "stranger"}
    one.down = True
    reconciler.set_desired(DesiredSlos())
    store_report(reconciler.report(), store)
    store_report(InlineReconciler(controller()).report(), store)
    assert kept(store) == before


def test_a_name_that_cannot_be_kept_costs_that_look_alone_and_a_database_that_is_away_is_told(
    store: PostgresStore,
) -> None:
    report = keeper_of(controller()).report()
    store_report(replace(report, tenants={"nul\0": TenantBandwidth(Rates(1))}), store)
    assert kept(store) == []
    with closing(PostgresStore(NOBODY_LISTENS)) as away, pytest.raises(StoreUnavailable):
        store_report(report, away)
