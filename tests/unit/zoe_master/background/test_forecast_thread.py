"""The forecast thread has a budget per forecast, and rests in proportion to its work."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.scheduling import queued
from zoe_master.background.forecast_thread import ForecastThread
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.state.cpu_budget import FORECAST_S

_STEP_S = 0.01
_STEPS_MAX = 10_000


class Scripted:
    """A master with this number of waiting executions, whose forecasts continue until they are given up; each step
    moves the clock.
    """

    def __init__(self, waiting: int) -> None:
        snapshot = SimpleNamespace(queued=tuple(queued(f"x{i}") for i in range(waiting)))
        self.latest = SimpleNamespace(snapshot=snapshot, plan=SimpleNamespace(starts={}), forecast=self.forecast)
        self.now_s = 0.0
        self.steps: list[int] = []
        self.told: list[str] = []

    def forecast(self, _execution_id: str, give_up: GiveUp = never) -> Any:
        steps = 0
        while not give_up() and steps < _STEPS_MAX:
            steps += 1
            self.now_s += _STEP_S
        self.steps.append(steps)
        return "told"

    def note_forecast(self, execution_id: str, _told: Any) -> None:
        self.told.append(execution_id)


@pytest.fixture
def master() -> Scripted:
    return Scripted(5)


def foretelling(master: Any) -> ForecastThread:
    made = ForecastThread.__new__(ForecastThread)  # without its thread: the test is the thread
    made.__dict__ |= {"_master": master, "_waker": SimpleNamespace(wake=lambda: None), "_asked": set()}
    made.__dict__["_cpu_s"] = lambda: master.now_s
    return made


def test_a_forecast_ends_with_its_budget(master: Scripted) -> None:
    its = foretelling(master)
    for _ in range(8):
        its.work_once()
    assert master.told == [f"x{i}" for i in range(5)]
    assert len(master.steps) == 5
    assert all(steps <= FORECAST_S / _STEP_S + 1 for steps in master.steps)


def test_it_works_a_fifth_of_the_time_at_most(master: Scripted) -> None:
    its = foretelling(master)
    for _ in range(8):
        began_s = master.now_s
        rest_s = its.work_once()
        worked_s = master.now_s - began_s
        assert rest_s > 0
        assert worked_s <= (worked_s + rest_s) / 5 + 1e-9
