"""The accuracy of a replay's forecasts, by width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from zoe_master.scheduler.what_if.calibration import WIDTHS, width_of
from zoe_simulator.measures.intervals import mean_interval
from zoe_simulator.trace import Foretold

# Errors of jobs that wait in one queue are correlated, so intervals are over batches of consecutive starts.
_BATCHES = 20
_BATCH_LEAST = 5


def forecast_figures(foretold: Sequence[Foretold]) -> dict[str, Any]:
    """Return the number of forecasts, and the shares of starts by the forecast p50 and p90."""
    count = max(len(foretold), 1)
    return {
        "forecasts": len(foretold),
        "started_by_p50": sum(map(_by_p50, foretold)) / count,
        "started_by_p90": sum(map(_by_p90, foretold)) / count,
        "median_wait_s": median([forecast.waited_s for forecast in foretold] or [0.0]),
        "median_p50_s": median([forecast.spread.p50_s for forecast in foretold] or [0.0]),
        "median_p90_s": median([forecast.spread.p90_s for forecast in foretold] or [0.0]),
        "forecasts_by_width": [_row(name, some) for name, some in _by_width(foretold) if some],
    }


def _by_width(foretold: Sequence[Foretold]) -> list[tuple[str, list[Foretold]]]:
    bounds = [0, *map(int, WIDTHS)]
    names = [f"{low + 1}-{high}" if high > low + 1 else f"{high}" for low, high in pairwise(bounds)]
    classes = [
        (name, [forecast for forecast in foretold if width_of(forecast.processors) == width])
        for width, name in enumerate([*names, f">{bounds[-1]}"])
    ]
    return [*classes, ("all", list(foretold))]


def _row(name: str, foretold: Sequence[Foretold]) -> dict[str, Any]:
    """Return a row; errors are those of p50 and of the naive forecast, absolute, where both exist."""
    compared = [(forecast, forecast.naive_s) for forecast in foretold if forecast.naive_s is not None]
    errors = [abs(foretold.waited_s - foretold.spread.p50_s) for foretold, _ in compared] or [0.0]
    naive = [abs(foretold.waited_s - naive_s) for foretold, naive_s in compared] or [0.0]
    return {
        "processors": name,
        "forecasts": len(foretold),
        "mean_error_s": fmean(errors),
        "naive_mean_error_s": fmean(naive),
        "median_error_s": median(errors),
        "naive_median_error_s": median(naive),
        "started_by_p50": _share(foretold, _by_p50),
        "started_by_p90": _share(foretold, _by_p90),
    }


def _share(foretold: Sequence[Foretold], held: Callable[[Foretold], bool]) -> dict[str, float | None]:
    """Return the share and its 95 % interval by the means of twenty batches; none if batches would be too small."""
    values = [float(held(forecast)) for forecast in foretold]
    size = len(values) / _BATCHES
    if size < _BATCH_LEAST:
        return {"share": fmean(values), "low": None, "high": None}
    means = [fmean(values[round(i * size) : round((i + 1) * size)]) for i in range(_BATCHES)]
    interval = mean_interval(means)
    return {"share": fmean(values), "low": max(interval.low, 0.0), "high": min(interval.high, 1.0)}


def _by_p50(one: Foretold) -> bool:
    return one.waited_s <= one.spread.p50_s


def _by_p90(one: Foretold) -> bool:
    return one.waited_s <= one.spread.p90_s
