"""Forecast when executions start and end, and learn from the outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark, ran_s
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.frozen import value
from zoe_master.scheduler.ordering.estimate import EstimateSource
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import GiveUp, never
from zoe_master.scheduler.what_if.calibration import ForecastCalibration
from zoe_master.scheduler.what_if.forecast import wait_of
from zoe_master.state.run_times import RunTimeChoice

# Stands for an unknown time: a node may be held without an end, and times in the journal are finite.
_UNKNOWN_S = 100 * 365 * 86_400.0


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
    run_s = expected_s if expected_s < _UNKNOWN_S else None
    if wait.seconds >= _UNKNOWN_S:
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


@value(frozen=True, slots=True)
class EndForecast:
    """The expected end of an execution submitted now, and the run time behind it (None: unknown). The times are None if
    its run time or its start is unknown.
    """

    run_s: float | None
    source: EstimateSource
    end_p50_s: float | None = None
    end_p90_s: float | None = None


def end_forecast(
    snapshot: Snapshot, execution: Execution, record: ForecastRecord, start: Forecast | None
) -> EndForecast:
    """Return the expected end of an execution with this forecast start; None: it starts now."""
    known = snapshot.estimates().run_time(execution)
    run_s = known.seconds if known.seconds < _UNKNOWN_S else None
    if run_s is None or start is not None:
        p50_s, p90_s = (None, None) if start is None else (start.end_p50_s, start.end_p90_s)
        return EndForecast(run_s, known.source, p50_s, p90_s)
    run = record.runs.spread(run_s)
    return EndForecast(run_s, known.source, snapshot.now_s + run.p50_s, snapshot.now_s + run.p90_s)


def end_by_learned(
    end: EndForecast, learned: RunTimeChoice | None, start: Forecast | None, starts_at_s: float | None
) -> EndForecast:
    """Return the end from learned run times, if there are any; it starts at `starts_at_s`, or as forecast."""
    if learned is None:
        return end
    p50_s, p90_s = (starts_at_s, starts_at_s) if start is None else (start.start_p50_s, start.start_p90_s)
    if p50_s is None or p90_s is None:
        return EndForecast(learned.p50_s, EstimateSource.PAST_RUNS)
    return EndForecast(learned.p50_s, EstimateSource.PAST_RUNS, p50_s + learned.p50_s, p90_s + learned.p90_s)


def _cores(execution: Execution) -> float:
    """Return the cores of the essential services, which must fit at the same time."""
    return execution.application.core_resources().cores_milli / 1000
