"""When executions end: plans, forecasts of waiting executions and those of running ones all take the end from here.

A declared run time comes first, then the learned run times of what runs, then the time limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.frozen import value
from zoe_master.scheduler.ordering.estimate import EstimateSource, RunTime
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.state.forecasts import UNKNOWN_S, ForecastRecord
from zoe_master.state.run_times import RunTimeChoice


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
    run_s = known.seconds if known.seconds < UNKNOWN_S else None
    if run_s is None or start is not None:
        p50_s, p90_s = (None, None) if start is None else (start.end_p50_s, start.end_p90_s)
        return EndForecast(run_s, known.source, p50_s, p90_s)
    run = record.runs.spread(run_s)
    return EndForecast(run_s, known.source, snapshot.now_s + run.p50_s, snapshot.now_s + run.p90_s)


def end_by_learned(
    end: EndForecast, learned: RunTimeChoice | None, start: Forecast | None, starts_at_s: float | None
) -> EndForecast:
    """Return the end from learned run times, if there are any and none is declared; it starts at `starts_at_s`, or as
    forecast.
    """
    if learned is None or end.source is EstimateSource.DECLARED:
        return end
    p50_s, p90_s = (starts_at_s, starts_at_s) if start is None else (start.start_p50_s, start.start_p90_s)
    if p50_s is None or p90_s is None:
        return EndForecast(learned.p50_s, EstimateSource.PAST_RUNS)
    return EndForecast(learned.p50_s, EstimateSource.PAST_RUNS, p50_s + learned.p50_s, p90_s + learned.p90_s)


def with_learned_end(forecast: Forecast, source: EstimateSource, learned: RunTimeChoice | None) -> Forecast:
    """Return the forecast of a waiting execution with the end that a plan for it shows."""
    end = end_by_learned(EndForecast(forecast.run_s, source), learned, forecast, None)
    if end.end_p50_s is None:
        return forecast
    return replace(forecast, end_p50_s=end.end_p50_s, end_p90_s=end.end_p90_s)


def placed_forecast(
    execution: Execution, known: RunTime, record: ForecastRecord, learned: RunTimeChoice | None, now_s: float
) -> Forecast:
    """Return the forecast of a starting or running execution: its start is past, its end is not.

    A run that has exceeded a time is expected to exceed it by as much again. No end is later than the time limit.
    """
    placed_s = execution.marks[Mark.PLACED]
    run_s = known.seconds if known.seconds < UNKNOWN_S else None
    found = Forecast(now_s, 0.0, run_s, placed_s, placed_s)
    if learned is not None and known.source is not EstimateSource.DECLARED:
        p50_s, p90_s, samples = learned.p50_s, learned.p90_s, learned.samples
    elif run_s is not None:
        spread = record.runs.spread(run_s)
        p50_s, p90_s, samples = spread.p50_s, spread.p90_s, spread.samples
    else:
        return found
    latest_s = placed_s + (execution.application.time_limit_s or math.inf)
    end_p50_s = min(_end_s(placed_s, p50_s, now_s), max(latest_s, now_s))
    end_p90_s = min(max(_end_s(placed_s, p90_s, now_s), end_p50_s), max(latest_s, now_s))
    return replace(found, end_p50_s=end_p50_s, end_p90_s=end_p90_s, samples=samples)


def present_choice(execution: Execution, choices: Sequence[RunTimeChoice]) -> RunTimeChoice | None:
    """Return the learned run time that applies to an execution: with its elastic services if it runs, else with all."""
    if not choices or execution.state not in (ExecutionState.STARTING, ExecutionState.RUNNING):
        return choices[-1] if choices else None
    elastic = sum(service.alive and service.node is not None for service in execution.elastic_services())
    return max((choice for choice in choices if choice.elastic <= elastic), key=lambda choice: choice.elastic)


def _end_s(placed_s: float, run_s: float, now_s: float) -> float:
    ran_s = now_s - placed_s
    return placed_s + run_s if ran_s <= run_s else now_s + (ran_s - run_s)
