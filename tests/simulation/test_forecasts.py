"""Forecasts are shown once, recorded, and learned from when they come true, also by the next master."""

from __future__ import annotations

from tests.simulation.world import World, application, component, node
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.backends.simulated import ServiceBehaviour

FULL = application(component("c", 1, 1, cores=8), expected_run_s=100.0)


def tell(world: World, execution_id: str) -> None:
    tick = world.master.latest
    told = tick and tick.forecast(execution_id)
    assert told is not None
    world.master.note_forecast(execution_id, told)
    world.tick()


def test_shown_forecast_stays_and_its_outcome_is_learned() -> None:
    world = World([node("n")], behave=lambda _: ServiceBehaviour(run_s=100.0))
    world.submit(FULL)
    second, third = world.submit(FULL), world.submit(FULL)
    world.tick()
    tell(world, second)
    tell(world, third)
    told = world.get(third).forecast
    assert told is not None
    assert (told.wait_s, told.run_s, told.start_p50_s, told.end_p50_s) == (200.0, 100.0, 1200.0, 1300.0)
    tell(world, third)
    assert world.get(third).forecast == told
    world.run(250.0)
    assert world.state(third) is ExecutionState.RUNNING
    assert world.get(third).forecast == told
    waits = world.master.cache.record.waits
    assert (waits.told, waits.held) == (2, 2)
    world.run(100.0)
    assert world.master.cache.record.runs.told == 2
    world.restart()
    assert world.master.cache.record.waits.told == 2
    assert world.master.cache.record.runs.told == 2


def test_another_try_is_told_anew() -> None:
    ends = iter([50.0])
    world = World([node("n")], behave=lambda _: ServiceBehaviour(run_s=next(ends, 100.0), exit_code=1))
    failing = application(component("c", 1, 1, cores=8), expected_run_s=100.0, retries=1)
    world.submit(FULL)
    second = world.submit(failing)
    world.tick()
    tell(world, second)
    assert world.get(second).forecast is not None
    world.run(155.0)
    assert world.get(second).attempt == 2
    assert world.get(second).forecast is None
