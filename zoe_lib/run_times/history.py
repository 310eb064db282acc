"""Predict run times from the ended runs of all kinds."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from zoe_lib.domain.applications.program import without_numbers
from zoe_lib.domain.values.frozen import value
from zoe_lib.run_times.kind import RunExpectation, RunsOfKind, known_before, read_at, took_s
from zoe_lib.run_times.likeness import programs_that_tell
from zoe_lib.run_times.samples import Kind
from zoe_lib.run_times.spread import CHANCES, Levels, Pool, nearest_chance
from zoe_lib.run_times.values import RunSample, RunSetting

KINDS_MAX = 20_000
TOLD_MAX = 20_000
"""Maximum number of unfinished runs with a stored prediction."""
FEW = 5
"""With fewer runs, an answer is uncertain (wide): it rests on the first runs of other kinds."""
_SOME = 20
# Kinds of a program that are compared for an unknown one.
_LIKE_MAX = 50
_POOLS_MAX = 10_000
_SHORTEST_S = 1.0


@value(frozen=True, slots=True)
class RunTimeAnswer:
    """An estimated run time. p50_s: half of such runs take no longer; p90_s: nine of ten.
    samples: ended runs of its kind, 64 at most. wide: uncertain: there are few, so that p90 may be a rule of thumb, or
    none had a similar number of cores.
    """

    expected_s: float
    p50_s: float
    p90_s: float
    samples: int
    wide: bool


class _CertainResources(Enum):
    """The resources of a prediction that a run had for certain. Most runs have no guarantee of elastic services or
    bandwidth: getting less is an error of the prediction at submission, but not of a prediction for a guarantee.
    """

    PERHAPS = "perhaps"
    CORES = "cores"
    RATE = "rate"
    """Cores, and a rate of the object store."""


@dataclass(slots=True)
class _Prediction:
    """The prediction for a run at its submission: its time; the model for other settings; and for each certainty and
    each of `CHANCES`, the levels, and the factor read at them.
    """

    expected_s: float
    expectation: RunExpectation
    factors: Mapping[_CertainResources, Sequence[tuple[Levels, float]]]
    pools: Mapping[_CertainResources, Pool]


class RunTimes:
    """Run times learned in memory, in the order of submissions and ends; the kinds that ended last, 20,000 at most."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[Kind, RunsOfKind] = OrderedDict()
        self._programs: dict[tuple[str, str], dict[Kind, None]] = defaultdict(dict)
        """The kinds of each tenant's programs without numbers, the one that ended last at the end."""
        self._pools: OrderedDict[tuple[str, int, _CertainResources], Pool] = OrderedDict()
        self._levels = {given: Levels() for given in _CertainResources}
        self._told: OrderedDict[str, _Prediction] = OrderedDict()
        self._ended: OrderedDict[str, _Prediction] = OrderedDict()  # those whose reading rate may still become known

    def predict_submitted(self, run_id: str, kind: Kind, setting: RunSetting) -> None:
        """Store the prediction for a submitted run, to compare it with its run time.

        Chances are calibrated for predictions at that time: runs submitted together end before any of them has been
        learned.
        """
        runs, _ = self._runs_like(kind)
        if runs is None or runs.model is None:
            return
        self._told[run_id] = self._expectation(kind, runs, setting)
        if len(self._told) > TOLD_MAX:
            self._told.popitem(last=False)

    def learn(self, run_id: str, kind: Kind, sample: RunSample) -> None:
        """Learn a successful run, after comparing it with its prediction."""
        runs = self._runs_of(kind)
        told = was_told = self._told.pop(run_id, None)
        if told is None and runs.model is not None:
            told = self._expectation(kind, runs, sample.setting)
        if told is not None:
            factor = max(took_s(sample), _SHORTEST_S) / told.expected_s
            # A later prediction would be judged by facts that were unknown at the submission.
            _judge(told, _CertainResources.PERHAPS, factor, judged=was_told is not None)
            self._judge_given(told, _CertainResources.CORES, sample, judged=was_told is not None)
            if read_at(sample.setting) is not None:
                self._judge_given(told, _CertainResources.RATE, sample, judged=was_told is not None)
            elif was_told is not None:
                self._ended[run_id] = told
                if len(self._ended) > TOLD_MAX:
                    self._ended.popitem(last=False)
        runs.add(sample, run_id)

    def amend(self, run_id: str, kind: Kind, sample: RunSample) -> bool:
        """Replace a learned run, since more is known of it now; return False if it is not among the newest."""
        runs = self._kinds.get(kind)
        if runs is None or not runs.contains(run_id):
            return False
        told = self._ended.pop(run_id, None) if read_at(sample.setting) is not None else None
        if told is not None:
            self._judge_given(told, _CertainResources.RATE, sample, judged=True)
        runs.amend(run_id, sample)
        return True

    def discard(self, run_id: str) -> None:
        """Discard the prediction for a run that teaches nothing."""
        self._told.pop(run_id, None)

    def answer(self, kind: Kind, setting: RunSetting) -> RunTimeAnswer | None:
        """Return the run time with this setting; None without any run of its kind."""
        runs, exact = self._runs_like(kind)
        if runs is None or runs.model is None:
            return None
        expected_s = runs.expected_s(setting)
        pool = self._pool(kind, runs, setting, _CertainResources.PERHAPS)
        p50_s, p90_s = (expected_s * self._factor(runs, pool, setting, value)[1] for value in (0.5, 0.9))
        thumb = not self._own_are_enough(runs, len(runs.samples), setting, 0.9) and not pool.enough
        wide = not exact or len(runs.samples) < FEW or not runs.model.covers(setting) or thumb
        return RunTimeAnswer(expected_s, p50_s, max(p90_s, p50_s), len(runs.samples), wide)

    def within_s(self, kind: Kind, setting: RunSetting, chance: float) -> float | None:
        """Return the time within which a run ends with this chance, if it has these cores, and this rate if given, for
        all its time; None without any run of its kind.
        """
        runs, _ = self._runs_like(kind)
        if runs is None or runs.model is None:
            return None
        given = _CertainResources.CORES if setting.rate is None else _CertainResources.RATE
        pool = self._pool(kind, runs, setting, given)
        most = nearest_chance(chance)
        # A prediction for a chance holds for every lower one, too: levels that were learned one by one may cross.
        factors = [self._factor(runs, pool, setting, value, given)[1] for value in CHANCES if value <= most]
        return runs.expected_s(setting) * max(factors)

    def ways_to_read(self, kind: Kind) -> frozenset[bool]:
        """Return the ways of reading for which a run's bytes are known: through views (True), plainly (False)."""
        runs, _ = self._runs_like(kind)
        return frozenset() if runs is None else runs.ways_to_read()

    def _runs_of(self, kind: Kind) -> RunsOfKind:
        """Return the runs of a kind of which one ends now."""
        runs, program = self._kinds.pop(kind, None) or RunsOfKind(), _program(kind)
        self._kinds[kind] = runs
        self._programs[program].pop(kind, None)
        self._programs[program][kind] = None
        if len(self._kinds) > KINDS_MAX:
            oldest, _ = self._kinds.popitem(last=False)
            del self._programs[_program(oldest)][oldest]
            if not self._programs[_program(oldest)]:
                del self._programs[_program(oldest)]
        return runs

    def _runs_like(self, kind: Kind) -> tuple[RunsOfKind | None, bool]:
        """Return the runs that predict a kind, and whether they are its own: else the user's with other numbers, else
        other users' in the tenant. Runs with other numbers count only if numbers do not matter.
        """
        if kind in self._kinds:
            return self._kinds[kind], True
        newest = list(islice(reversed(self._programs.get(_program(kind), {})), _LIKE_MAX))
        for some in ([other for other in newest if other[1] == kind[1]], newest):
            run_s: dict[str, list[float]] = defaultdict(list)
            for other in some:
                run_s[other[2]] += map(took_s, self._kinds[other].samples)
            programs = programs_that_tell(run_s, kind[2])
            if programs:
                return next(self._kinds[other] for other in some if other[2] in programs), False
        return None, False

    def _expectation(self, kind: Kind, runs: RunsOfKind, setting: RunSetting) -> _Prediction:
        pools = {given: self._pool(kind, runs, setting, given) for given in _CertainResources}
        factors = {
            given: tuple(self._factor(runs, pools[given], setting, chance, given) for chance in CHANCES)
            for given in _CertainResources
        }
        return _Prediction(max(runs.expected_s(setting), _SHORTEST_S), runs.expectation(), factors, pools)

    @staticmethod
    def _judge_given(told: _Prediction, given: _CertainResources, sample: RunSample, *, judged: bool) -> None:
        """Compare a run with the prediction for the resources that it had."""
        if not told.expectation.model.covers(sample.setting):
            return
        expected_s = told.expectation.expected_s(known_before(sample.setting, rated=given is _CertainResources.RATE))
        _judge(told, given, max(took_s(sample), _SHORTEST_S) / max(expected_s, _SHORTEST_S), judged=judged)

    def _factor(
        self,
        runs: RunsOfKind,
        pool: Pool,
        setting: RunSetting,
        chance: float,
        given: _CertainResources = _CertainResources.PERHAPS,
    ) -> tuple[Levels, float]:
        """Return the factor at a chance, and the levels at which it was read: of the kind itself if it has had enough
        runs, else of kinds with as many runs.
        """
        factors = runs.rated_factors if given is _CertainResources.RATE else runs.factors
        if self._own_are_enough(runs, len(factors), setting, chance):
            return self._levels[given], self._levels[given].factor(factors, chance)
        return pool.levels, pool.factor(chance)

    @staticmethod
    def _own_are_enough(runs: RunsOfKind, count: int, setting: RunSetting, chance: float) -> bool:
        """Return whether the kind's own factors have a quantile at this chance; for rare chances, 20 factors and the
        levels suffice.
        """
        seen = runs.model is not None and runs.model.covers(setting)
        return seen and count > min(max(math.ceil(chance / (1 - chance) - 1e-9), FEW), _SOME)

    def _pool(self, kind: Kind, runs: RunsOfKind, setting: RunSetting, given: _CertainResources) -> Pool:
        """Return the factors of all kinds of the tenant, and of no other tenant, that were predicted with as much
        knowledge.
        """
        if runs.model is None or not runs.model.covers(setting):
            place = -1
        else:
            place = sum(len(runs.samples) >= bound for bound in (2, FEW))
        pool = self._pools.pop((kind[0], place, given), None) or Pool()
        self._pools[kind[0], place, given] = pool
        if len(self._pools) > _POOLS_MAX:
            self._pools.popitem(last=False)
        return pool


def _program(kind: Kind) -> tuple[str, str]:
    return kind[0], without_numbers(kind[2])


def _judge(told: _Prediction, given: _CertainResources, factor: float, *, judged: bool) -> None:
    """Adjust the levels by whether a run took longer than predicted, and store its factor for other kinds."""
    if judged:
        for chance, (levels, most) in zip(CHANCES, told.factors[given], strict=True):
            levels.learn(chance, factor > most)
    told.pools[given].factors.append(factor)
