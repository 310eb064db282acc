"""Turns a simulated wait into p50 and p90 by the outcomes of earlier forecasts. No I/O; fed in order of time.

The spread is the empirical one of the last ratios of real to simulated waits, among forecasts of a similar length for
executions of a similar width (split conformal prediction by groups): others pass those with many cores, so one spread
for all is too long for one core and too short for many. The level follows the reached coverage, so that 90 % stay
within the p90 even under drift: Gibbs and Candès, "Adaptive conformal inference under distribution shift", NeurIPS
2021.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from zoe_lib.domain.values.frozen import value

# Waits are compared after adding this, so that a few seconds do not count as a factor of ten.
_FLOOR_S = 30.0
# Simulated waits of a similar length are calibrated together: up to 1 min, 10 min, 1 h, 4 h, a day, and beyond.
_BOUNDS_S = (60.0, 600.0, 3600.0, 4 * 3600.0, 86400.0)
# So do executions of a similar width: up to 1, 8 and 32 cores, and beyond.
WIDTHS = (1.0, 8.0, 32.0)
_KEPT = 200
_NEEDED = 20
_TARGET = 0.9
_LEVEL_MAX = 0.999
_STEP = 0.02
# Before anything was learned: a p90 of three times the simulated wait.
_RULE_OF_THUMB = (1.0, 3.0)


# A class of lengths and one of widths; None for all of them.
_Class = tuple[int | None, int | None]


@dataclass(slots=True)
class _Bin:
    ratios: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    level: float = _TARGET


@value(frozen=True, slots=True)
class ForecastSpread:
    """Waits in seconds; `samples`: number of earlier forecasts behind them."""

    p50_s: float
    p90_s: float
    samples: int


class ForecastCalibration:
    """Accuracy of forecasts. `coverage`: share of real waits within their p90."""

    def __init__(self) -> None:
        self._bins: dict[_Class, _Bin] = defaultdict(_Bin)
        self.told = 0
        self.held = 0

    @property
    def coverage(self) -> float | None:
        """Return the share of real waits within their p90; None before the first forecast."""
        return self.held / self.told if self.told else None

    def spread(self, simulated_s: float, cores: float = 1.0) -> ForecastSpread:
        """Return the calibrated waits for a simulated wait of an execution with this many cores."""
        ratios, level = self._basis(simulated_s, cores)
        factors = _RULE_OF_THUMB if not ratios else (_quantile(ratios, 0.5), _quantile(ratios, level))
        p50_s, p90_s = (max(factor * (simulated_s + _FLOOR_S) - _FLOOR_S, 0.0) for factor in factors)
        return ForecastSpread(p50_s, max(p90_s, p50_s), len(ratios))

    def learn(self, simulated_s: float, told_p90_s: float, waited_s: float, cores: float = 1.0) -> None:
        """Learn from a finished forecast: the simulated wait, its p90, and the real wait."""
        held = waited_s <= told_p90_s
        self.told += 1
        self.held += held
        for each in _classes(simulated_s, cores):
            one = self._bins[each]
            one.level = min(max(one.level + _STEP * (_TARGET - held), 0.5), _LEVEL_MAX)
            one.ratios.append((waited_s + _FLOOR_S) / (simulated_s + _FLOOR_S))

    def _basis(self, simulated_s: float, cores: float) -> tuple[list[float], float]:
        """Return the sorted ratios, and the level of p90, of the narrowest class with enough of them."""
        for each in _classes(simulated_s, cores):
            one = self._bins.get(each)
            ratios = [] if one is None else list(one.ratios)  # copied: another thread may be learning
            if one is not None and len(ratios) >= _NEEDED:
                return sorted(ratios), one.level
        return [], _TARGET


def width_of(cores: float) -> int:
    """Return the class of a width in cores."""
    return bisect_left(WIDTHS, cores)


def _classes(simulated_s: float, cores: float) -> tuple[_Class, ...]:
    """Return the classes of a forecast, the narrowest first."""
    width = width_of(cores)
    return (bisect_right(_BOUNDS_S, simulated_s), width), (None, width), (None, None)


def _quantile(ordered: Iterable[float], level: float) -> float:
    """Return the conformal quantile of n sorted values: that of rank level * (n + 1), rounded up, or the largest."""
    values = list(ordered)
    return values[min(math.ceil(level * (len(values) + 1)), len(values)) - 1]
