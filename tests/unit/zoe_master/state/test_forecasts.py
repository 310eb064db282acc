"""Outcomes of forecasts are learned, and reported, by the cores of the execution."""

from __future__ import annotations

from dataclasses import replace

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.executions.execution import Mark
from zoe_lib.domain.values.forecast import Forecast
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.state.forecasts import ForecastRecord, forecast


def told_at_once(cores: float, waited_s: float, record: ForecastRecord) -> None:
    """Start an execution with a forecast wait of 1,000 s."""
    execution = started(queued("e", component(cores=cores), at_s=0.0), "n")
    told = Forecast(at_s=0.0, wait_s=1000.0, run_s=None, start_p50_s=1000.0, start_p90_s=3000.0)
    record.record_wait(replace(execution, forecast=told, marks=execution.marks | {Mark.PLACED: waited_s}))


def test_forecasts_of_wide_executions_follow_those_of_wide_ones() -> None:
    record = ForecastRecord()
    for _ in range(20):
        told_at_once(1.0, 485.0, record)  # (485 + 30) / (1000 + 30) is a half
        told_at_once(40.0, 2030.0, record)  # twice
    running = started(queued("r", component(cores=64), at_s=0.0, expected_run_s=1099.0), "n")  # placed at 1
    for cores, p50_s in ((1.0, 485.0), (40.0, 2030.0)):
        waiting = queued("w", component(cores=cores), at_s=2.0, expected_run_s=10.0)
        snapshot = Snapshot(100.0, (node("n", cores=64),), (waiting,), (running,))
        told = forecast(snapshot, FIFO, "w", record)
        assert told is not None
        assert (told.wait_s, told.start_p50_s, told.samples) == (1000.0, 100.0 + p50_s, 20)
