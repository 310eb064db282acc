"""Deadline status of executions in SQL; the domain's version is `deadline_misses.status_of`."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Double, and_, case, cast, false, func, literal, text

from zoe_client.vocabulary import DeadlineStatus, ExecutionState, Mark
from zoe_lib.store.tables.executions import NOT_TERMINAL, executions

_E = executions.c


def deadline_is(status: DeadlineStatus, now_s: float) -> ColumnElement[bool]:
    """Return the condition that executions have this deadline status."""
    if status is DeadlineStatus.MISSED:
        return _E.missed.is_not(None)
    open_ = and_(_E.deadline_s.is_not(None), _E.missed.is_(None))
    if status is DeadlineStatus.MET:
        return and_(open_, _E.state == ExecutionState.SUCCEEDED.value)
    late = _expected_end_s(now_s) > _E.deadline_s
    asks = _E.application["promise"].astext.is_not(None)
    at_risk = case((_E.promise.is_not(None), _E.promise["notice"].astext.is_not(None)), (asks, false()), else_=late)
    return and_(open_, text(NOT_TERMINAL), at_risk)


def _expected_end_s(now_s: float) -> ColumnElement[float]:
    """Return the expected end; NULL if the run time is unknown."""
    expected_s, now = _expected_run_s(), literal(now_s, Double)
    placed_at_s = cast(_E.marks[Mark.PLACED.value].astext, Double)
    forecast_s = func.coalesce(cast(_E.forecast["end_p90_s"].astext, Double), 0.0)
    started, waits = func.greatest(placed_at_s + expected_s, now), func.greatest(now + expected_s, forecast_s)
    # PostgreSQL's greatest() ignores NULL.
    return case((expected_s.is_(None), None), (placed_at_s.is_not(None), started), else_=waits)


def _expected_run_s() -> ColumnElement[float]:
    limit_s = cast(_E.application["time_limit_s"].astext, Double)
    declared_s = cast(_E.application["size"]["run_time_s"].astext, Double)
    told_s = cast(_E.forecast["run_s"].astext, Double)
    forecast_s = case((told_s.is_distinct_from(limit_s), told_s))
    expected_s = func.coalesce(func.nullif(declared_s, 0.0), forecast_s)
    return case((expected_s.is_not(None), func.least(expected_s, limit_s)))
