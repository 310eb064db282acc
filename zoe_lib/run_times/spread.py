"""Ratios of run times to predictions, so that a prediction can be given for any chance.

Each run is compared with the prediction before its end, by the knowledge of that time. The factor at a chance is the
conformal quantile of earlier factors, and its level follows the share that was reached, so that it is calibrated under
any drift (Gibbs and Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from zoe_lib.run_times.likeness import ODD

CHANCES = (0.5, 0.8, 0.9, 0.95, 0.99)
_KEPT = 500
_NEEDED = 20
_STEP = 0.02
# Runs that are submitted together miss together, and would move the level without limit.
_BEYOND_MOST = 3.0
_STEEP = 20.0
_HIGHEST = 1.5
# Up to this chance, the largest factor counts only as far as the second one confirms it.
_COMMON = 0.9
_UNKNOWN = {0.5: 1.0, 0.8: 2.0, 0.9: 3.0, 0.95: 4.0, 0.99: 8.0}
"""Factors before anything was learned: a rule of thumb."""


def nearest_chance(chance: float) -> float:
    """Return the smallest of `CHANCES` that is not below this one, else the largest."""
    return next((value for value in CHANCES if value >= chance - 1e-9), CHANCES[-1])


@dataclass(slots=True)
class Levels:
    """The level at which the factors for each chance are read. Above 1 they are beyond all observed ones."""

    levels: dict[float, float] = field(default_factory=lambda: {value: value for value in CHANCES})

    def factor(self, factors: Collection[float], chance: float) -> float:
        """Return the factor on an expected run time for one of `CHANCES`."""
        level, values = self.levels[chance], sorted(factors)
        if len(values) > 1 and chance <= _COMMON:
            values[-1] = min(values[-1], ODD * values[-2])
        beyond = min(math.exp(_STEEP * max(level - 1.0, 0.0)), _BEYOND_MOST)
        return values[min(max(math.ceil(level * (len(values) + 1)), 1), len(values)) - 1] * beyond

    def learn(self, chance: float, missed: bool) -> None:
        """Adjust the level after a run took longer than predicted for this chance, or did not."""
        moved = self.levels[chance] + _STEP * (chance - 1 + missed)
        self.levels[chance] = min(max(moved, 0.05), _HIGHEST)


@dataclass(slots=True)
class Pool:
    """The factors of the newest 500 runs of several kinds."""

    factors: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    levels: Levels = field(default_factory=Levels)

    @property
    def enough(self) -> bool:
        """Return whether there are 20 factors; before, a rule of thumb replaces them."""
        return len(self.factors) >= _NEEDED

    def factor(self, chance: float) -> float:
        """Return the factor at one of `CHANCES`."""
        return self.levels.factor(self.factors, chance) if self.enough else _UNKNOWN[chance]
