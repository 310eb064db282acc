"""The incremental best node equals the result of scoring all of them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tests.support.scheduling import GIB, component, ledger, node, request
from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import StorageDemand, StorageObject, object_of
from zoe_master.scheduler.placement.candidates import CandidateNodes
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

INPUT = "swift2d://meters.zoe/2015"


def test_it_agrees_with_scoring_everything_after_any_change() -> None:
    for seed in range(30):
        chance = random.Random(seed)
        nodes = [node(f"n{i}", cores=chance.randint(1, 8), memory_gib=chance.randint(1, 8)) for i in range(7)]
        whole = InputObjects(4, 100)
        hosts = {n.name: InputObjects(1, chance.randint(0, 100)) for n in chance.sample(nodes, chance.randint(0, 4))}
        paths = {n.name: PathUse(chance.randint(0, 90), 90) for n in chance.sample(nodes, chance.randint(0, 4))}
        accounts = Ledger(nodes, (), {object_of("default", INPUT): Places(whole, whole, hosts)}, paths)
        weighers = chance.choice(
            [Policy().weighers, {"free_memory": -1.0}, {"free_memory": 1.0}, {"locality": 1.0, "storage_headroom": 1.0}]
        )
        placer = ServicePlacer(accounts, Policy(weighers=weighers))
        reads = chance.choice([None, StorageDemand(inputs=(StorageObject("data", INPUT),))])
        wanted = replace(request(component(cores=chance.choice([1, 2]), memory_gib=1)), storage=reads)
        kept = placer._make_candidates(wanted)
        for _ in range(60):
            change = accounts.take if chance.random() < 0.6 else accounts.give_back
            change(chance.randrange(7), Resources(500, GIB // 2))
            assert kept.best() == best_of_all(
                placer, wanted, accounts.with_room(range(7), wanted.component.reservation)
            )


def best_of_all(placer: ServicePlacer, wanted: Request, roomy: list[int]) -> int | None:
    scores = placer._scores(wanted, roomy).tolist() if roomy else []
    return roomy[scores.index(max(scores))] if roomy else None


def test_full_node_returns_when_it_has_room() -> None:
    accounts = ledger(node("n", cores=1))
    one = Resources(1000)
    kept = CandidateNodes(
        [0], accounts, lambda nodes: accounts.with_room(nodes, one), lambda nodes: np.zeros(len(nodes))
    )
    assert kept.best() == 0
    accounts.take(0, one)
    assert kept.best() is None
    accounts.give_back(0, one)
    assert kept.best() == 0
