"""Learning from ended executions, also by the next master."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulation.world import World, application, component, node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.scheduler.ordering.estimate import Estimates, EstimateSource, RunTime


def execution(name: str, tenant: str = "default", **more: object) -> Execution:
    made = application(component("c", 1, 1), **more)
    return Execution(name, "app", tenant, "ada", made, 0.0)


def submit(world: World, fresh: Execution) -> None:
    world.store.submit(replace(fresh, submitted_at_s=world.clock.now_s()), "test")


def estimate(world: World, wanted: Execution) -> RunTime:
    submit(world, wanted)
    world.tick()
    tick = world.master.latest
    assert tick is not None
    return Estimates(tick.snapshot.past_runs).run_time(wanted)


def test_past_runs_of_the_same_program_tell_how_long_the_next_takes() -> None:
    durations = iter([100.0, 10.0, 20.0])
    world = World([node("n")], behave=lambda _: ServiceBehaviour(run_s=next(durations, 1000.0)))
    for number, run_s in enumerate([100.0, 10.0, 20.0]):
        submit(world, execution(f"past{number}"))
        world.tick()
        world.run(run_s)
        world.tick()
    assert estimate(world, execution("next")) == RunTime(30.0, EstimateSource.PAST_RUNS)
    assert estimate(world, execution("declared", expected_run_s=7.0)) == RunTime(7.0, EstimateSource.DECLARED)
    too_long = execution("too-long", expected_run_s=7.0, time_limit_s=5.0)
    assert estimate(world, too_long) == RunTime(5.0, EstimateSource.DECLARED)
    assert estimate(world, execution("short-limit", time_limit_s=5.0)) == RunTime(5.0, EstimateSource.PAST_RUNS)
    colleague = replace(execution("colleague"), user="bob")
    assert estimate(world, colleague) == RunTime(30.0, EstimateSource.PAST_RUNS)
    assert estimate(world, execution("other", "other")).source is EstimateSource.UNKNOWN
    limited = execution("limited", "other", time_limit_s=50.0)
    assert estimate(world, limited) == RunTime(50.0, EstimateSource.TIME_LIMIT)
    world.restart()
    assert estimate(world, execution("after-restart")) == RunTime(30.0, EstimateSource.PAST_RUNS)
    world.tick()


def test_fair_share_counts_old_use_less_and_running_use_at_once() -> None:
    world = World([node("n", cores=2)], behave=lambda start: ServiceBehaviour(run_s=100.0))
    world.store.set_policy(Policy(order="fair-share", usage_half_life_s=1000.0), 0, world.clock.now_s(), "test")
    submit(world, execution("a1", "a"))
    world.tick()
    world.run(100.0)
    world.tick()
    world.run(1000.0)
    submit(world, execution("b1", "b"))
    world.tick()
    world.run(25.0)
    tick = world.tick()
    assert tick.snapshot.used["a"] == pytest.approx(100.0 * 2**-1.025)
    assert tick.snapshot.used["b"] == pytest.approx(25.0)
