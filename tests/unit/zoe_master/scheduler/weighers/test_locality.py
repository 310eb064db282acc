from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.scheduling import component, node, queued, request
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.storage import StorageDemand, StorageObject, located
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ledger import Ledger
from zoe_master.scheduler.snapshot import Snapshot
from zoe_master.scheduler.weighers.locality import locality

HERE, THERE = "swift2d://here.zoe/x", "swift2d://there.zoe/x"
TENANT = "default"
NODES = (node("a"), node("b"), node("c"))


def reading(*uris: str) -> StorageDemand:
    return StorageDemand(inputs=tuple(StorageObject(f"i{n}", uri) for n, uri in enumerate(uris)))


def test_the_score_is_the_share_of_inputs_that_are_there() -> None:
    book = Ledger(NODES, (), {located(TENANT, HERE): frozenset({"a", "b"}), located(TENANT, THERE): frozenset({"b"})})
    one = replace(request(component()), storage=reading(HERE, THERE, "swift2d://unknown.zoe/x", HERE))
    assert list(locality(one, np.array([0, 1, 2]), book)) == [0.5, 0.75, 0.0]


def test_without_inputs_or_news_of_them_all_nodes_are_alike() -> None:
    book = Ledger(NODES, ())
    for storage in (None, reading(), reading(HERE)):
        assert not locality(replace(request(component()), storage=storage), np.array([0, 1, 2]), book).any()


def test_two_of_the_same_size_go_to_their_own_inputs() -> None:
    waiting = [
        queued(f"e{n}", component(), at_s=n, storage=reading(uri)) for n, uri in enumerate([HERE, THERE, HERE, THERE])
    ]
    places = {located(TENANT, HERE): frozenset({"b"}), located(TENANT, THERE): frozenset({"c"})}
    snapshot = Snapshot(10.0, NODES, tuple(waiting), locality=places)
    plan = schedule(snapshot, Policy(weighers={"locality": 1.0}))
    assert [plan.starts[e.id][0].node for e in waiting] == ["b", "c", "b", "c"]
