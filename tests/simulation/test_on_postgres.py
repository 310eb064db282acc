"""The picture that the master keeps in memory is the one a new master would read from PostgreSQL."""

from __future__ import annotations

import random

import pytest

from tests.simulation.world import World, check_invariants, node, random_application, random_behaviour
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import ExecutionQuery
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.state.crash_points import CrashPoint
from zoe_master.state.state_cache import StateCache


@pytest.mark.parametrize("seed", range(5))
def test_memory_and_database_tell_the_same_story(store: PostgresStore, seed: int) -> None:
    chance = random.Random(seed)
    behaviours: dict[str, ServiceBehaviour] = {}
    store.accounts.ensure_member("ada", "default", "admin")
    world = World(
        [node("n1", cores=6, memory_gib=12), node("n2", cores=3, memory_gib=8)],
        behave=lambda s: behaviours.setdefault(s.service_id, random_behaviour(chance)),
        store=store,
    )
    submitted: list[str] = []
    for _ in range(8):
        if chance.random() < 0.3:
            world.crash_once_at(chance.choice(list(CrashPoint)), chance.randint(1, 3))
        submitted.append(world.submit(random_application(chance)))
        world.run(chance.choice([0.0, 1.0, 7.0]), check_invariants)
        if chance.random() < 0.3:
            world.cancel(chance.choice(submitted))
        world.tick()
        assert by_id(world.master.cache) == by_id(StateCache(store, 0))
    world.run(2000.0, check_invariants)
    assert len(store.executions(ExecutionQuery(limit=50)).executions) == len(submitted)


def by_id(cache: StateCache) -> dict[str, Execution]:
    return {execution.id: execution for execution in cache.executions()}
