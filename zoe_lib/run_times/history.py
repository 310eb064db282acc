"""What ended runs of all kinds teach about runs to come."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass

from zoe_lib.domain.values import value
from zoe_lib.run_times.kind import RunsOfKind
from zoe_lib.run_times.samples import Kind
from zoe_lib.run_times.spread import CHANCES, Levels, Pool, nearest_chance
from zoe_lib.run_times.values import RunSample, RunSetting

KINDS_MAX = 20_000
TOLD_MAX = 20_000
"""Runs to come of which it is kept what was expected of them."""
FEW = 5
"""With fewer runs, an answer is wide: it rests on how other kinds began."""
_SOME = 20
_POOLS_MAX = 10_000
_SHORTEST_S = 1.0


@value(frozen=True, slots=True)
class RunTimeAnswer:
    """How long a run takes. p50_s: half of such runs take no longer; p90_s: nine of ten.

    samples: ended runs of its kind, 64 at most. wide: there are few, so that p90 may be a rule of thumb, or none had
    about as many cores.
    """

    expected_s: float
    p50_s: float
    p90_s: float
    samples: int
    wide: bool


@dataclass(slots=True)
class _Told:
    """What was expected of a run: its time, and for each of `CHANCES` the levels, and the factor read by them."""

    expected_s: float
    factors: tuple[tuple[Levels, float], ...]
    pool: Pool


class RunTimes:
    """Learned in memory, in the order of submissions and ends; the kinds that ended last, 20,000 at most."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[Kind, RunsOfKind] = OrderedDict()
        self._pools: OrderedDict[tuple[str, int], Pool] = OrderedDict()
        self._levels = Levels()
        self._told: OrderedDict[str, _Told] = OrderedDict()

    def submitted(self, run_id: str, kind: Kind, setting: RunSetting) -> None:
        """Keep what is expected of a run that is submitted, to compare it with what it takes.

        Chances come true for what was said then: runs that are submitted together end before any of them has taught
        something.
        """
        runs = self._kinds.get(kind)
        if runs is None or runs.model is None:
            return
        self._told[run_id] = self._expectation(kind, runs, setting)
        if len(self._told) > TOLD_MAX:
            self._told.popitem(last=False)

    def learn(self, run_id: str, kind: Kind, sample: RunSample) -> None:
        """Add a run that has ended well, after it was compared with what was expected of it."""
        runs = self._kinds.pop(kind, None) or RunsOfKind()
        self._kinds[kind] = runs
        if len(self._kinds) > KINDS_MAX:
            self._kinds.popitem(last=False)
        told = was_told = self._told.pop(run_id, None)
        if told is None and runs.model is not None:
            told = self._expectation(kind, runs, sample.setting)
        if told is not None:
            factor = max(sample.start_s + sample.work_s, _SHORTEST_S) / told.expected_s
            if was_told is not None:  # others would be judged by what was not yet known at their submission
                for chance, (levels, most) in zip(CHANCES, told.factors, strict=True):
                    levels.learn(chance, factor > most)
            told.pool.factors.append(factor)
        runs.add(sample, run_id)

    def amend(self, run_id: str, kind: Kind, sample: RunSample) -> bool:
        """Replace what a run taught, since more is known of it now; return False if it is not among the newest."""
        runs = self._kinds.get(kind)
        if runs is None or not runs.has(run_id):
            return False
        runs.amend(run_id, sample)
        return True

    def ended(self, run_id: str) -> None:
        """Forget what was expected of a run that taught nothing."""
        self._told.pop(run_id, None)

    def answer(self, kind: Kind, setting: RunSetting) -> RunTimeAnswer | None:
        """Return how long a run with this setting takes; None without any run of its kind."""
        runs = self._kinds.get(kind)
        if runs is None or runs.model is None:
            return None
        expected_s = runs.expected_s(setting)
        pool = self._pool(kind, runs, setting)
        p50_s, p90_s = (expected_s * self._factor(runs, pool, setting, one)[1] for one in (0.5, 0.9))
        thumb = not self._own_are_enough(runs, setting, 0.9) and not pool.enough
        wide = len(runs.samples) < FEW or not runs.model.seen(setting) or thumb
        return RunTimeAnswer(expected_s, p50_s, max(p90_s, p50_s), len(runs.samples), wide)

    def within_s(self, kind: Kind, setting: RunSetting, chance: float) -> float | None:
        """Return in what time a run with this setting ends with a chance; None without any run of its kind."""
        runs = self._kinds.get(kind)
        if runs is None or runs.model is None:
            return None
        told = self._factor(runs, self._pool(kind, runs, setting), setting, nearest_chance(chance))[1]
        return runs.expected_s(setting) * told

    def ways_to_read(self, kind: Kind) -> frozenset[bool]:
        """Return of which ways to read it is known how much a run reads: through views (True), plainly (False)."""
        runs = self._kinds.get(kind)
        return frozenset() if runs is None else runs.ways_to_read()

    def _expectation(self, kind: Kind, runs: RunsOfKind, setting: RunSetting) -> _Told:
        pool = self._pool(kind, runs, setting)
        factors = tuple(self._factor(runs, pool, setting, chance) for chance in CHANCES)
        return _Told(max(runs.expected_s(setting), _SHORTEST_S), factors, pool)

    def _factor(self, runs: RunsOfKind, pool: Pool, setting: RunSetting, chance: float) -> tuple[Levels, float]:
        """Return the factor at a chance, and the levels by which it was read: of the kind itself if it has had enough
        runs, else of kinds with as many runs.
        """
        if self._own_are_enough(runs, setting, chance):
            return self._levels, self._levels.factor(runs.factors, chance)
        return pool.levels, pool.factor(chance)

    @staticmethod
    def _own_are_enough(runs: RunsOfKind, setting: RunSetting, chance: float) -> bool:
        """Return whether the kind's own factors have a quantile at this chance; for rare ones, 20 and the levels do."""
        seen = runs.model is not None and runs.model.seen(setting)
        return seen and len(runs.samples) > min(max(math.ceil(chance / (1 - chance) - 1e-9), FEW), _SOME)

    def _pool(self, kind: Kind, runs: RunsOfKind, setting: RunSetting) -> Pool:
        """Return the factors of runs of all kinds of the tenant, and of no other, of which as much was known."""
        if runs.model is None or not runs.model.seen(setting):
            place = -1
        else:
            place = sum(len(runs.samples) >= bound for bound in (2, FEW))
        pool = self._pools.pop((kind[0], place), None) or Pool()
        self._pools[kind[0], place] = pool
        if len(self._pools) > _POOLS_MAX:
            self._pools.popitem(last=False)
        return pool
