"""An execution that declares a run time of zero does not pass executions that wait for room."""

from __future__ import annotations

import time

import pytest

from tests.simulation.world import World, application, check_invariants, component, node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Mark
from zoe_master.backends.simulated import ServiceBehaviour

RUN_S = 6.0


@pytest.mark.parametrize("declared_s", [1e-9, 1e-3, 0.5, 0.999, 1.0, 2.0])
@pytest.mark.parametrize(
    ("order", "backfill"), [("fifo", "easy"), ("fifo", "conservative"), ("size", "easy-sjbf"), ("sjf", "easy")]
)
def test_the_first_that_waits_starts_when_what_ran_has_ended(order: str, backfill: str, declared_s: float) -> None:
    """Ten of one core fill the cluster, one comes as one ends, and the wide one needs eight cores."""
    world = World(
        [node("n1", cores=4), node("n2", cores=4), node("n3", cores=2)], lambda _: ServiceBehaviour(run_s=RUN_S)
    )
    world.clock.advance(1.8e9)  # as now: a nanosecond is less than a step of these numbers
    world.store.set_policy(Policy(order=order, backfill=backfill), 0, time.time(), "test")

    def lie(times: int) -> None:
        for _ in range(times):
            world.submit(application(component("c", 1, 1), expected_run_s=declared_s))
            world.run(RUN_S / 10, check_invariants)

    lie(10)
    wide = world.submit(application(component("c", 2, 2, cores=4), expected_run_s=60.0), priority=1)
    submitted_at_s = world.clock.now_s()
    lie(40)
    # Running ones end; executions that passed before one had outlasted its time end as long after.
    assert world.get(wide).marks[Mark.PLACED] - submitted_at_s <= 2 * RUN_S
