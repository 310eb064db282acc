"""Forecast when executions start and end, and learn from the outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark, ran_s
from zoe_lib.domain.values.forecast import Forecast
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.what_if.calibration import ForecastCalibration
from zoe_master.scheduler.what_if.forecast import wait_of

UNKNOWN_S = 100 * 365 * 86_400.0
"""Stands for an unknown time: a node may be held without an end, and times in the journal are finite."""


@dataclass(slots=True)
class ForecastRecord:
    """Outcomes of forecasts of waits and of run times."""

    waits: ForecastCalibration = field(default_factory=ForecastCalibration)
    runs: ForecastCalibration = field(default_factory=ForecastCalibration)

    def record_wait(self, execution: Execution) -> None:
        """Record the wait of an execution that was placed against its forecast."""
        announced = execution.forecast
        if announced is None or announced.wait_s is None or announced.start_p90_s is None:
            return
        waited_s = max(execution.marks[Mark.PLACED] - announced.at_s, 0.0)
        self.waits.learn(announced.wait_s, announced.start_p90_s - announced.at_s, waited_s, _cores(execution))

    def record_run_time(self, execution: Execution) -> None:
        """Record the run time of an ended execution against its forecast."""
        announced = execution.forecast
        if execution.state is not ExecutionState.SUCCEEDED or announced is None or announced.run_s is None:
            return
        if announced.end_p90_s is None or announced.start_p90_s is None:
            return
        self.runs.learn(announced.run_s, announced.end_p90_s - announced.start_p90_s, ran_s(execution) or 0.0)


def forecast(
    snapshot: Snapshot, policy: Policy, execution_id: ExecutionId, record: ForecastRecord, give_up: GiveUp = never
) -> Forecast | None:
    """Return the present forecast of a queued execution; None if it is not queued. `give_up` ends the simulation.

    The p90 of the end is the sum of the p90s of wait and run time, so it is rather too late than too early.
    """
    execution = next((e for e in snapshot.queued if e.id == execution_id), None)
    estimates = snapshot.estimates()
    wait = wait_of(snapshot, policy, execution_id, estimates, give_up) if execution is not None else None
    if execution is None or wait is None:
        return None
    now_s, expected_s = snapshot.now_s, estimates.run_s(execution)
    run_s = expected_s if expected_s < UNKNOWN_S else None
    if wait.seconds >= UNKNOWN_S:
        return Forecast(now_s, None, run_s)
    start = record.waits.spread(wait.seconds, _cores(execution))
    run = record.runs.spread(run_s) if run_s is not None else None
    return Forecast(
        at_s=now_s,
        wait_s=wait.seconds,
        run_s=run_s,
        start_p50_s=now_s + start.p50_s,
        start_p90_s=now_s + start.p90_s,
        end_p50_s=now_s + start.p50_s + run.p50_s if run is not None else None,
        end_p90_s=now_s + start.p90_s + run.p90_s if run is not None else None,
        samples=start.samples,
        extrapolated=wait.extrapolated,
    )


def _cores(execution: Execution) -> float:
    """Return the cores of the essential services, which must fit at the same time."""
    return execution.application.core_resources().cores_milli / 1000
