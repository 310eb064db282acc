"""Whole ticks of a master under policies that the API accepts, however extreme their numbers; none ends it."""

from __future__ import annotations

import random
import time

import pytest

from tests.properties.test_accepted_policies import accepted, random_document
from tests.simulation.world import World, application, component, node
from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.cluster.policy import Policy
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.background.activity import ServiceActivity
from zoe_master.state.forecasts import ForecastRecord, forecast

CASES = 60


def _policy(chance: random.Random) -> Policy:
    """Return an accepted policy with holds, and with numbers for ending idle executions."""
    times = [0, 1.5, 1e9, 253_402_300_799]
    while True:
        hold = {"since_s": chance.choice(times), "until_s": chance.choice([None, *times])}
        more = {
            "node_holds": {"n0": hold} if chance.random() < 0.5 else {},
            "idle_after_s": chance.choice([0, 5e-324, 5.0, 1e308]),
            "idle_cores_milli": chance.choice([0, 100, 2**53]),
            "idle_without_ports": True,
        }
        if (policy := accepted({**random_document(chance), **more})) is not None:
            return policy


@pytest.mark.parametrize("seed", range(CASES))
def test_ticks_go_on(seed: int) -> None:
    chance = random.Random(seed)
    world = World(
        [node(f"n{i}", cores=4) for i in range(2)], lambda _: ServiceBehaviour(run_s=chance.choice([5.0, 1e6]))
    )
    activity = ServiceActivity()
    for number in range(12):
        world.submit(
            application(
                component("c", 1, chance.randint(1, 4), cores=chance.randint(1, 4)),
                kind=chance.choice(list(ApplicationKind)),
            ),
            tenant=chance.choice("abc"),
        )
        if number % 4 == 0:
            policy = _policy(chance)
            world.store.set_policy(policy, world.store.policy().version, time.time(), "test")
        tick = world.tick()
        activity.last_computing(world.backend.usage(), world.master.policy)
        for execution in tick.snapshot.queued:
            told = forecast(tick.snapshot, world.master.policy, execution.id, ForecastRecord())
            if told is not None:
                world.master.note_forecast(execution.id, told)
        world.clock.advance(chance.choice([0.1, 10.0, 1e5]))
    world.tick()
