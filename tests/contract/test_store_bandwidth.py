"""Stored bandwidth over time, and the contract of every store on the capacity of the object store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from tests.support.stores import LIMITS, NOBODY_LISTENS, OpenStore
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.executions.promises import Rates, StoreCapacity, TenantBandwidth
from zoe_lib.store.errors import NotLeader, StoreUnavailable, Unstorable
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import BandwidthPoint

NOTHING = TenantBandwidth()


def moving(read: int, write: int = 0) -> TenantBandwidth:
    return TenantBandwidth(Rates(100, 40), Rates(read, write), Rates(missed := max(100 - read, 0), missed // 2))


def all_of(store: PostgresStore, tenant: str | None = None) -> list[BandwidthPoint]:
    return list(store.bandwidth_over_time(0.0, 10_000.0, 100.0, tenant))


def test_looks_are_averaged_by_stretch_and_who_is_missing_had_nothing(bounded_store: PostgresStore) -> None:
    bounded_store.add_bandwidth(100.0, {"red": moving(30, 8), "blue": moving(80)})
    bounded_store.add_bandwidth(150.0, {"red": moving(61, 9)})
    bounded_store.add_bandwidth(199.0, {})
    bounded_store.add_bandwidth(200.0, {"red": moving(90)})
    assert all_of(bounded_store) == [
        BandwidthPoint(100.0, "blue", TenantBandwidth(Rates(33, 13), Rates(26, 0), Rates(6, 3))),
        BandwidthPoint(100.0, "red", TenantBandwidth(Rates(66, 26), Rates(30, 5), Rates(36, 18))),
        BandwidthPoint(200.0, "blue", NOTHING),
        BandwidthPoint(200.0, "red", moving(90)),
    ]


def test_a_stretch_without_a_look_is_missing(bounded_store: PostgresStore) -> None:
    bounded_store.add_bandwidth(100.0, {"red": moving(1)})
    bounded_store.add_bandwidth(310.0, {})
    assert all_of(bounded_store) == [BandwidthPoint(100.0, "red", moving(1)), BandwidthPoint(300.0, "red", NOTHING)]


def test_unmeasured_bandwidth_is_unknown_instead_of_zero(bounded_store: PostgresStore) -> None:
    untold = {"red": TenantBandwidth(Rates(100, 40), None, None)}
    for at_s in (100.0, 110.0):
        bounded_store.add_bandwidth(at_s, untold, measured=False)
    bounded_store.add_bandwidth(210.0, {}, measured=False)
    bounded_store.add_bandwidth(310.0, untold, measured=False)
    bounded_store.add_bandwidth(320.0, {"red": moving(50, 7)})
    bounded_store.add_bandwidth(330.0, {})
    assert all_of(bounded_store) == [
        BandwidthPoint(100.0, "red", TenantBandwidth(Rates(100, 40), None, None)),
        BandwidthPoint(200.0, "red", TenantBandwidth(Rates(), None, None)),
        BandwidthPoint(300.0, "red", TenantBandwidth(Rates(66, 26), Rates(25, 3), Rates(25, 12))),
    ]


def test_one_tenant_and_a_span_are_told_alone(bounded_store: PostgresStore) -> None:
    for at_s in (100.0, 200.0, 300.0):
        bounded_store.add_bandwidth(at_s, {"red": moving(int(at_s)), "blue": moving(5)})
    assert [(point.at_s, point.tenant) for point in bounded_store.bandwidth_over_time(200.0, 300.0, 100.0, "red")] == [
        (200.0, "red")
    ]
    assert [point.at_s for point in all_of(bounded_store, "blue")] == [100.0, 200.0, 300.0]
    for nobody in ("green", "nul\0"):
        assert all_of(bounded_store, nobody) == []
    assert not bounded_store.bandwidth_over_time(400.0, 300.0, 30.0)


def test_a_look_that_is_kept_stays_as_it_is(bounded_store: PostgresStore) -> None:
    bounded_store.add_bandwidth(100.0, {"red": moving(30)})
    bounded_store.add_bandwidth(100.0, {"red": moving(99), "blue": moving(1)})
    assert all_of(bounded_store) == [BandwidthPoint(100.0, "red", moving(30))]


def test_a_name_that_cannot_be_kept_is_refused_and_the_next_look_is_kept(bounded_store: PostgresStore) -> None:
    with pytest.raises(Unstorable):
        bounded_store.add_bandwidth(100.0, {"nul\0": moving(1)})
    bounded_store.add_bandwidth(100.0, {"red": moving(2)})
    assert all_of(bounded_store) == [BandwidthPoint(100.0, "red", moving(2))]


def test_looks_are_kept_as_long_as_ended_executions(bounded_store: PostgresStore) -> None:
    now_s = LIMITS.retention_s + 200.0
    for at_s in (100.0, 199.0, 200.0, 300.0):
        bounded_store.add_bandwidth(at_s, {"red": moving(int(at_s))})
    bounded_store.prune(now_s)
    assert all_of(bounded_store) == [
        BandwidthPoint(200.0, "red", moving(200)),
        BandwidthPoint(300.0, "red", moving(300)),
    ]


@pytest.mark.parametrize(
    "call", [lambda store: store.add_bandwidth(1.0, {}), lambda store: store.bandwidth_over_time(0.0, 1.0, 30.0)]
)
def test_without_a_database_every_call_says_so(call: Callable[[PostgresStore], object]) -> None:
    with closing(PostgresStore(NOBODY_LISTENS)) as store, pytest.raises(StoreUnavailable):
        call(store)


def test_the_capacity_of_the_object_store_is_kept_until_another_is_told(open_store: OpenStore) -> None:
    store = open_store()
    able = BackendCapabilities(workspaces=False)
    assert store.whole_platform().storage is None
    store.set_capabilities(able, None, 1.0, None)
    assert open_store().whole_platform() == Platform((), able)
    store.set_capabilities(able, StoreCapacity(400, 0), 1.0, None)
    assert open_store().whole_platform() == Platform((), able, StoreCapacity(400, 0))
    store.set_capabilities(BackendCapabilities(), None, 2.0, None)
    assert store.whole_platform() == Platform((), BackendCapabilities(), StoreCapacity(400, 0))
    store.set_capabilities(BackendCapabilities(), StoreCapacity(2**70, 7), 3.0, store.try_lead("me"))
    assert store.whole_platform().storage == StoreCapacity(2**70, 7)


def test_a_master_that_leads_no_more_tells_no_capacity(open_store: OpenStore) -> None:
    store = open_store()
    epoch = store.try_lead("me")
    assert epoch is not None
    with pytest.raises(NotLeader):
        store.set_capabilities(BackendCapabilities(), StoreCapacity(1, 1), 1.0, epoch - 1)
    assert store.whole_platform().storage is None
