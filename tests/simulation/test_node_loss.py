"""What the loss of a node would do is foretold, and then carried out."""

from __future__ import annotations

import random

import pytest

from tests.simulation.world import World, application, component, node
from tests.support.long import LONG
from zoe_lib.domain.executions.execution import ACTIVE_STATES, WAITING_STATES
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.scheduler.what_if.node_loss import node_loss

SEEDS = 100 if LONG else 20
SETTLES_S = 60.0
"""Longer than stops and pauses of retries, and shorter than all run times."""


def world_of(draw: random.Random) -> World:
    nodes = [node(f"n{number}", cores=draw.choice((2, 4, 8))) for number in range(draw.randint(2, 5))]
    world = World(nodes, lambda _: ServiceBehaviour(run_s=100_000.0))
    for _ in range(draw.randint(3, 15)):
        essential = draw.randint(1, 3)
        total = essential + draw.choice((0, 0, 2))
        world.submit(application(component("c", essential, total, cores=draw.choice((1, 1, 2, 4)))))
        world.run(draw.choice((0.0, 5.0)))
    world.run(SETTLES_S)
    return world


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_loss_is_as_foretold(seed: int) -> None:
    draw = random.Random(seed)
    world = world_of(draw)
    tick = world.tick()
    lost = draw.choice([node.name for node in tick.snapshot.nodes])
    loss = node_loss(tick.snapshot, world.master.policy, {lost})
    before = {execution.id: execution for execution in (*tick.snapshot.queued, *tick.snapshot.active)}
    world.backend.lose_node(lost)
    world.run(SETTLES_S)
    again = {restart.execution_id: restart.starts_now for restart in loss.restarts}
    for execution_id, was in before.items():
        now = world.get(execution_id)
        assert now.attempt == was.attempt + (execution_id in again), (seed, execution_id)
        running = now.state in ACTIVE_STATES
        assert running or now.state in WAITING_STATES
        if execution_id in again:
            assert running == again[execution_id], (seed, execution_id, now.reason)
    assert not loss.failed
    smaller = {execution_id for execution_id, _ in loss.shrunk}
    assert all(world.get(one).state in ACTIVE_STATES for one in smaller)
