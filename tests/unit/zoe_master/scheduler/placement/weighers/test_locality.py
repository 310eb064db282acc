from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.scheduling import component, node, queued, request
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.storage import StorageDemand, StorageObject, object_of
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.weighers.locality import locality

HERE, THERE = "swift2d://here.zoe/x", "swift2d://there.zoe/x"
TENANT = "default"
NODES = (node("a"), node("b"), node("c"))


def on(bytes_in_all: int = 8, **shares: int) -> Places:
    """Make an input of this many bytes, with these amounts on nodes."""
    everything = InputObjects(bytes_in_all, bytes_in_all)
    return Places(everything, everything, {name: InputObjects(share, share) for name, share in shares.items()})


def reading(*uris: str) -> StorageDemand:
    return StorageDemand(inputs=tuple(StorageObject(f"i{n}", uri) for n, uri in enumerate(uris)))


def test_the_score_is_the_share_of_the_bytes_that_are_there() -> None:
    """Of known inputs: one is unknown, and one is named twice and read once."""
    book = Ledger(NODES, (), {object_of(TENANT, HERE): on(8, a=2, b=8), object_of(TENANT, THERE): on(24, b=24)})
    one = replace(request(component()), storage=reading(HERE, THERE, "swift2d://unknown.zoe/x", HERE))
    assert list(locality(one, np.array([0, 1, 2]), book)) == [1 / 16, 1.0, 0.0]


def test_an_input_of_which_a_sample_was_looked_at_counts_by_all_of_its_bytes() -> None:
    sampled = replace(on(10, a=5), listed=InputObjects(1000, 300))
    book = Ledger(NODES, (), {object_of(TENANT, HERE): sampled, object_of(TENANT, THERE): on(100, c=100)})
    one = replace(request(component()), storage=reading(HERE, THERE))
    assert list(locality(one, np.array([0, 1, 2]), book)) == [150 / 400, 0.0, 100 / 400]


def test_without_inputs_or_news_of_them_all_nodes_are_alike() -> None:
    book = Ledger(NODES, ())
    for storage in (None, reading(), reading(HERE)):
        assert not locality(replace(request(component()), storage=storage), np.array([0, 1, 2]), book).any()


def test_two_of_the_same_size_go_to_their_own_inputs() -> None:
    waiting = [
        queued(f"e{n}", component(), at_s=n, storage=reading(uri)) for n, uri in enumerate([HERE, THERE, HERE, THERE])
    ]
    places = {object_of(TENANT, HERE): on(b=8), object_of(TENANT, THERE): on(c=8)}
    snapshot = Snapshot(10.0, NODES, tuple(waiting), locality=places)
    plan = schedule(snapshot, Policy(weighers={"locality": 1.0}))
    assert [plan.starts[e.id][0].node for e in waiting] == ["b", "c", "b", "c"]


def test_two_tenants_mean_different_objects_by_one_uri() -> None:
    """Also where many of a kind are placed in one pass, for which scores are kept."""
    places = {object_of(tenant, HERE): on(**{name: 8}) for tenant, name in (("red", "b"), ("blue", "c"))}
    tenants = ["red", "blue"] * 4
    one = [queued(f"e{n}", component(), at_s=n, storage=reading(HERE)) for n in range(len(tenants))]
    waiting = [replace(execution, tenant=tenant) for execution, tenant in zip(one, tenants, strict=True)]
    plan = schedule(Snapshot(10.0, NODES, tuple(waiting), locality=places), Policy(weighers={"locality": 1.0}))
    assert [plan.starts[e.id][0].node for e in waiting] == ["b", "c"] * 4


def test_by_default_bytes_go_before_spreading_and_spreading_before_a_few_bytes() -> None:
    waiting = [queued(f"e{n}", component(), at_s=n, storage=reading(HERE)) for n in range(3)]
    for shares, wanted in (({"c": 8}, "ccc"), ({"b": 8, "c": 8}, "bcb"), ({}, "abc")):
        snapshot = Snapshot(10.0, NODES, tuple(waiting), locality={object_of(TENANT, HERE): on(**shares)})
        assert "".join(schedule(snapshot, Policy()).starts[e.id][0].node for e in waiting) == wanted
    nearly_nothing = Places(InputObjects(1000, 10**6), InputObjects(1000, 10**6), {"c": InputObjects(1, 1000)})
    snapshot = Snapshot(10.0, NODES, tuple(waiting), locality={object_of(TENANT, HERE): nearly_nothing})
    assert sorted(schedule(snapshot, Policy()).starts[e.id][0].node for e in waiting) == ["a", "b", "c"]
