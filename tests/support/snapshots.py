"""Random clusters with random queues, and any policy; the same ones for the same seed."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.support.limits import tenant_limit
from tests.support.scheduling import GIB, component, node, queued
from zoe_lib.domain.applications.application import Component, Port
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import BACKFILLS, LEARNED_ORDERS, ORDERS, TENANCIES, Policy
from zoe_lib.domain.executions.events import ElasticPlaced, StartPlanned
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.gateway import NO_GATEWAY
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.backfill.elastic import ElasticGiving
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.admission import admit
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

# How many seeds a test case goes through.
PER_CASE = 100


def random_snapshot(chance: random.Random, gateway: Resources = NO_GATEWAY) -> tuple[Snapshot, Policy]:
    """A tight cluster, about two applications' worth, some of it taken; every second component is proxied."""
    nodes = tuple(replace(_node(chance, i), gateway=gateway) for i in range(chance.randint(1, 5)))
    waiting = [queued(f"q{i}", *_components(chance), at_s=chance.random()) for i in range(chance.randint(0, 6))]
    active: list[Execution] = []
    for i in range(chance.randint(0, 2)):
        execution = queued(f"r{i}", *_components(chance))
        placements = admit(execution, ServicePlacer(Ledger(nodes, active), Policy()))
        if isinstance(placements, tuple):
            active.append(apply(execution, StartPlanned(at_s=1.0, placements=placements)))
            placer = ServicePlacer(Ledger(nodes, active), Policy())
            giving = ElasticGiving(placer, TenantReservations([], Policy()), 10.0)
            extra = giving.in_order(active[-1:], 10).get(execution.id)
            if extra:
                active[-1] = apply(active[-1], ElasticPlaced(at_s=1.0, placements=extra))
    policy = Policy(
        order=chance.choice(["fifo", "size"]),
        weighers=chance.choice([Policy().weighers, {"free_memory": -1.0}, {"fewest_containers": 1.0}]),
    )
    return Snapshot(10.0, nodes, tuple(waiting), tuple(active)), policy


def varied(snapshot: Snapshot, policy: Policy, chance: random.Random) -> tuple[Snapshot, Policy]:
    """The same with several tenants, some of them limited, and any policy."""

    def somebodys(executions: tuple[Execution, ...]) -> tuple[Execution, ...]:
        return tuple(replace(e, tenant=chance.choice(["a", "b", "c"])) for e in executions)

    def sized(execution: Execution) -> Execution:
        run_s = chance.choice([0.5, 5.0, 50.0, None])
        changed = replace(execution, application=replace(execution.application, expected_run_s=run_s))
        return replace(changed, priority=chance.choice([0, 0, 0, 1]))

    limit = tenant_limit(chance.choice([None, 2000, 5000]), chance.choice([None, 4 * GIB]))
    policy = replace(
        policy,
        order=chance.choice(sorted(ORDERS - LEARNED_ORDERS)),
        backfill=chance.choice(sorted(BACKFILLS)),
        tenants=chance.choice(sorted(TENANCIES)),
        tenant_limits=chance.choice([{}, {"a": limit}, {"*": limit}]),
        interactive_share=chance.choice([0.0, 0.5]),
        preemption=chance.choice(["elastic", "elastic", "none"]),
    )
    more = {
        "used": {tenant: chance.uniform(0, 100) for tenant in "abc"[: chance.randint(0, 3)]},
        "queued": tuple(map(sized, somebodys(snapshot.queued))),
        "active": tuple(map(sized, somebodys(snapshot.active))),
    }
    return replace(snapshot, **more), policy  # type: ignore[arg-type]


def _node(chance: random.Random, number: int) -> Node:
    return node(
        f"n{number}",
        cores=chance.randint(1, 8),
        memory_gib=chance.randint(1, 16),
        devices={"gpu": chance.randint(0, 2)},
        labels={"disk": chance.choice(["ssd", "hdd"])},
        ready=chance.random() > 0.1,
        foreign=Resources(chance.choice([0, 0, 1000]), chance.choice([0, 0, 2 * GIB])),
    )


def _components(chance: random.Random) -> list[Component]:
    return [
        component(
            f"c{i}",
            cores=chance.choice([0.5, 1, 2, 3]),
            memory_gib=chance.choice([0, 0.5, 1, 4]),
            devices={"gpu": 1} if chance.random() < 0.1 else {},
            labels=(("disk", "ssd"),) if chance.random() < 0.15 else (),
            essential_count=(core := chance.randint(0 if i else 1, 3)),
            total_count=max(core + chance.choice([0, 0, 1, 4]), 1),
            ports=(Port("web", 80, proxied=True),) if i % 2 else (),
        )
        for i in range(chance.randint(1, 3))
    ]
