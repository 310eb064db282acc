"""Elastic services that stay use every place that delays no promise, and plans come to rest.

Counted by exact packing over plain lists. The first that waits needs the one node with a label, so it is certain which
places it is promised; weighers choose that node for elastic services, too.
"""

from __future__ import annotations

import math
import random

import pytest

from tests.support.checks import of_checks
from tests.support.resting import ticks_to_rest
from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.applications.exact_packing import PlacementShortage, StepBudget, pack_exactly
from zoe_lib.domain.cluster.policy import TENANCIES, Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

NOW_S = 10.0
BACKFILLS = ("easy", "easy-sjbf", "conservative")
PROMISED = "promised"
LABELS = {"disk": "ssd"}
Room = dict[str, Resources]


def blocked(cores: int) -> Execution:
    return queued("blocked", component("b", cores, 0, labels=tuple(LABELS.items())))


def grows(name: str, where: str, size: int, count: int, run_s: float | None) -> Execution:
    core = component("c", 1, 0, essential_count=1)
    extra = component("e", size, 0, essential_count=0, total_count=count)
    return started(queued(name, core, extra, expected_run_s=run_s), where)


@pytest.mark.parametrize("tenants", sorted(TENANCIES))
@pytest.mark.parametrize("backfill", BACKFILLS)
def test_service_refused_on_a_promised_node_gets_another(backfill: str, tenants: str) -> None:
    nodes = (node(PROMISED, 10, 64, labels=LABELS), node("other", 4, 8), node("small", 2, 8))
    ends = started(queued("ends", component(cores=4), expected_run_s=19.0), PROMISED)
    active = (ends, grows("long", "small", 1, 5, None))
    policy = Policy(order="fifo", backfill=backfill, tenants=tenants, preemption="none", weighers={"free_memory": 1.0})
    plan = schedule(Snapshot(NOW_S, nodes, (blocked(10),), active), policy)
    assert sorted(p.node for p in plan.elastic["long"]) == ["other"] * 4 + ["small"]


def random_case(chance: random.Random) -> tuple[Snapshot, Policy]:
    sizes = {
        PROMISED: chance.choice([6, 10]),
        **{f"n{i}": chance.choice([2, 4, 7]) for i in range(chance.randint(1, 4))},
    }
    nodes = tuple(
        node(name, cores, chance.choice([8, 16, 32]), labels=LABELS if name == PROMISED else {})
        for name, cores in sizes.items()
    )
    ends = started(queued("ends", component(cores=chance.randint(1, 4)), expected_run_s=19.0), PROMISED)
    active = [ends]
    for i in range(chance.randint(1, 3)):
        run_s = chance.choice([5.0, 15.0, 40.0, None])
        where = chance.choice(
            [name for name, cores in sizes.items() if cores - sum(where_is(e) == name for e in active) > 4] or ["n0"]
        )
        active.append(grows(f"g{i}", where, chance.randint(1, 3), chance.randint(1, 6), run_s))
    weighers = chance.choice([{"free_memory": 1.0}, {"free_memory": -1.0}, {"fewest_containers": 1.0}])
    policy = Policy(
        order="fifo",
        backfill=chance.choice(BACKFILLS),
        tenants=chance.choice(sorted(TENANCIES)),
        preemption="none",
        weighers=weighers,
    )
    return Snapshot(NOW_S, nodes, (blocked(sizes[PROMISED]),), tuple(active)), policy


def where_is(execution: Execution) -> str | None:
    return execution.services[0].node


def ends_s(execution: Execution) -> float:
    run_s = execution.application.expected_run_s
    return math.inf if run_s is None else max(1.0 + run_s, NOW_S)


def left(snapshot: Snapshot, at_s: float, more: tuple[Execution, str, Resources] | None = None) -> Room:
    """Return the free room at that time, once those have ended that are expected to."""
    room = {node.name: node.usable for node in snapshot.nodes}
    for execution in snapshot.active:
        for service in execution.services:
            if service.node is not None and (at_s == NOW_S or ends_s(execution) > at_s):
                room[service.node] -= execution.component_of(service).reservation
    if more is not None and ends_s(more[0]) > at_s:
        room[more[1]] -= more[2]
    return room


def starts_s(snapshot: Snapshot, more: tuple[Execution, str, Resources] | None = None) -> float:
    """When the first that waits fits by exact packing."""
    waiting = snapshot.queued[0].application.components[0]
    labels = {node.name: node.labels for node in snapshot.nodes}
    for at_s in sorted({ends_s(e) for e in snapshot.active} - {math.inf}):
        room = left(snapshot, at_s, more)
        found = pack_exactly([(waiting, 1)], room, lambda _, name: labels[name] == LABELS, StepBudget(1000))
        if not isinstance(found, PlacementShortage):
            return at_s
    return math.inf


def idle(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Elastic services with a node on which they would delay nothing."""
    promised_s, room = starts_s(snapshot), left(snapshot, NOW_S)
    found = []
    for execution in snapshot.active:
        for service in execution.elastic_services():
            amount = execution.component_of(service).reservation
            if service.node is None:
                found += [
                    (service.id, name)
                    for name in room
                    if amount.fits_in(room[name]) and starts_s(snapshot, (execution, name, amount)) <= promised_s
                ]
    return found


@pytest.mark.parametrize("first_seed", range(0, of_checks(0.8, 10_000), 100))
def test_at_rest_no_place_is_left_that_delays_nothing(first_seed: int) -> None:
    waited = 0
    for seed in range(first_seed, first_seed + 100):
        snapshot, policy = random_case(random.Random(seed))
        promised_s = starts_s(snapshot)
        rested = ticks_to_rest(snapshot, policy)
        assert rested is not None, f"seed {seed}: it does not come to rest"
        after = rested[0]
        if promised_s == math.inf or not after.queued:
            continue
        waited += 1
        assert all(
            min(resources.cores_milli, resources.memory_bytes) >= 0 for resources in left(after, NOW_S).values()
        ), seed
        assert starts_s(after) <= promised_s, f"seed {seed}: the first that waits is delayed"
        assert not (found := idle(after)), f"seed {seed}: {found} would delay nothing"
    assert waited > 30
