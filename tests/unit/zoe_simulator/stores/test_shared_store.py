"""Rates of readers: by the paths of nodes, the shares of tenants, and their guarantees."""

from __future__ import annotations

import pytest

from storage_bridge.model import BandwidthSlo
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import Bandwidth, Guarantee
from zoe_simulator.progress import Progress
from zoe_simulator.stores.shared_store import Reader, SharedStore, StoreSize, max_min
from zoe_simulator.stores.store_use import StoreUse
from zoe_simulator.workload import Arrival, Reading, arrivals, with_reading

SIZE = StoreSize(store=100, path=60, floor=1)


def arrival(reading: Reading | None = None) -> Arrival:
    return Arrival(0, 0.0, 100.0, 100.0, 1, 4, Resources(1000), "t", 0.0, reading)


def reader(tenant: str, demand: float, **components: int) -> Reader:
    """At full speed it reads so much."""
    progress = Progress(arrival(), read_bytes=demand * 100.0)
    progress.running = 4
    return Reader(tenant, progress, components or {"a": 2, "b": 2})


def shares(*readers: Reader, slos: dict[str, int] | None = None) -> list[float]:
    store = SharedStore(SIZE)
    for tenant, rate in (slos or {}).items():
        store.controller.set_slo(tenant, BandwidthSlo(rate))
    store.share(readers)
    return [reader.progress.bandwidth for reader in readers]


@pytest.mark.parametrize(
    ("wanted", "room", "parts"),
    [([10, 50, 50], 90, [10, 40, 40]), ([1, 2], 90, [1, 2]), ([], 5, []), ([30, 30], 20, [10, 10])],
)
def test_parts_are_equal_and_nobody_gets_more_than_it_wants(
    wanted: list[float], room: float, parts: list[float]
) -> None:
    assert max_min(wanted, room) == parts


def test_tenants_share_the_store_and_applications_share_what_their_tenant_has() -> None:
    assert shares(reader("x", 80), reader("y", 80)) == pytest.approx([50, 50], abs=1)
    assert shares(reader("x", 80), reader("y", 80), reader("y", 10)) == pytest.approx([50, 40, 10], abs=1)
    assert shares(reader("x", 20), reader("y", 90)) == pytest.approx([20, 80], abs=1)


def test_promised_rate_comes_first() -> None:
    both = (reader("x", 80), reader("y", 80, c=2, d=2))
    assert shares(*both, slos={"x": 70}) == pytest.approx([80, 20], abs=1)


def test_reader_is_bounded_by_the_paths_of_its_nodes() -> None:
    assert shares(reader("x", 90, a=4)) == pytest.approx([60], abs=1)
    assert shares(reader("x", 90, a=2, b=2)) == pytest.approx([90], abs=1)
    assert shares(reader("x", 50, a=4), reader("y", 50, a=4)) == pytest.approx([30, 30], abs=1)


def test_slow_reading_slows_the_work() -> None:
    one = reader("x", 80).progress
    one.bandwidth = 20.0
    assert one.left_s == pytest.approx(400.0)
    one.advance(200.0)
    assert one.done == pytest.approx(0.5)


def test_pushdown_reads_what_is_kept_and_wishes_are_asked_for_as_the_run_says() -> None:
    one = arrival(Reading(1000.0, 0.1, 30))
    assert StoreUse(SIZE).read_bytes_of(one) == 1000.0
    assert StoreUse(SIZE).demand_of(one) is None
    aware = StoreUse(SIZE, described=True, pushdown=True, guarantee=Guarantee.REQUIRED)
    assert aware.read_bytes_of(one) == 100.0
    demand = aware.demand_of(one)
    assert demand is not None
    assert demand.bandwidth == Bandwidth(30, None, Guarantee.REQUIRED)
    assert demand.inputs[0].pushdown is not None
    assert aware.demand_of(arrival()) is None


def test_the_same_seed_gives_the_same_applications_something_to_read_and_changes_nothing_else() -> None:
    plain = arrivals(3, 400, 0.9)
    read = with_reading(plain, 3)
    assert read == with_reading(plain, 3)
    assert [(a.run_s, a.submit_s) for a in read] == [(a.run_s, a.submit_s) for a in plain]
    readings = [a.reading for a in read if a.reading is not None]
    assert len(readings) / 400 == pytest.approx(0.6, abs=0.08)
    assert sum(r.promised is not None for r in readings) / len(readings) == pytest.approx(0.6, abs=0.1)
    assert {r.kept for r in readings} == {0.01, 0.1, 0.5, 1.0}
