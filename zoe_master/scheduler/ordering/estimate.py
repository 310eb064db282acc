"""Expected run times of executions, and their sources."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from itertools import chain, repeat

from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, ExecutionState, Mark
from zoe_lib.domain.values.frozen import value
from zoe_lib.run_times.samples import RunKey, run_key

# Assumed for an application without a known run time: an hour.
_RUN_S_UNKNOWN = 3600.0
# Shorter run times count as this. A declared run time is not checked: one of a nanosecond would come before all others
# for weeks, and would pass every waiting execution, since it seems to end before anything else can start.
_SHORTEST_S = 1.0
# Added, one after the other, to a prediction that a run has exceeded; the last one repeatedly.
_CORRECTIONS_S = (60, 300, 900, 1800, 3600, 7200, 18_000, 36_000, 72_000, 180_000, 360_000)


class EstimateSource(StrEnum):
    """Sources of an expected run time, the most trusted first."""

    DECLARED = "declared"
    PAST_RUNS = "past_runs"
    TIME_LIMIT = "time_limit"
    UNKNOWN = "unknown"


@value(frozen=True, slots=True)
class RunTime:
    """An expected run time in seconds; infinite if nothing is known."""

    seconds: float
    source: EstimateSource


class Estimates:
    """Expected run times: declared, else learned from past runs, else the time limit, else infinite.

    Orders and backfill assume an hour for an unknown run time (`guess_s`); otherwise no execution could pass where none
    are declared.

    `past_runs` has the expected run time of the next run by RunKey. `correct`: backfill corrects an exceeded run time
    (`corrected_s`), instead of expecting the run to end now. `limits_first`: the time limit takes precedence over
    learned run times, except for the order (`order_s`): no reservation then relies on a prediction.
    """

    def __init__(
        self,
        past_runs: Mapping[RunKey, float],
        correct: bool = False,
        limits_first: bool = False,
    ) -> None:
        self._past_runs = past_runs
        self._correct = correct
        self._limits_first = limits_first

    def run_time(self, execution: Execution) -> RunTime:
        """Return the expected run time and its source. Learned run times never exceed the time limit."""
        return RunTime(*self._run_s_and_source(execution, self._limits_first))

    def run_s(self, execution: Execution) -> float:
        """Return the expected run time in seconds."""
        return self._run_s_and_source(execution, self._limits_first)[0]

    def guess_s(self, execution: Execution) -> float:
        """Return the expected run time in seconds, at least one; an hour when nothing is known."""
        return _guess(self.run_s(execution))

    def order_s(self, execution: Execution) -> float:
        """Return the run time by which the queue is ordered: `guess_s`, or a learned one before the time limit."""
        return _guess(self._run_s_and_source(execution, limits_first=False)[0])

    def end_s(self, execution: Execution, now_s: float) -> float:
        """Return when a placed execution is expected to end; one that should have ended is expected to end now."""
        return max(execution.marks[Mark.PLACED] + self.run_s(execution), now_s)

    def release_s(self, execution: Execution, now_s: float) -> float:
        """Return when backfill expects a placed execution to end: as `end_s`, by `guess_s`."""
        placed_at_s, expected_s = execution.marks[Mark.PLACED], self.guess_s(execution)
        if self._correct:
            limit_s = execution.application.time_limit_s or math.inf
            expected_s = corrected_s(expected_s, now_s - placed_at_s, limit_s)
        return max(placed_at_s + expected_s, now_s)

    def latest_end_s(self, execution: Execution, now_s: float) -> float:
        """Return when an execution has ended for certain, if it is placed now or was before: infinite if nothing says
        so.

        The time limit, else the run time that its user declared; never a prediction, since holds of nodes rely on it.
        """
        application = execution.application
        most_s = application.time_limit_s or application.expected_run_s or math.inf
        ends_s = (
            execution.marks.get(Mark.PLACED, now_s) + most_s if execution.state in ACTIVE_STATES else now_s + most_s
        )
        return ends_s if ends_s > now_s else math.inf

    def cautious_end_s(self, execution: Execution, now_s: float, caution: float) -> float:
        """Return the pessimistic end of a placed execution: `caution` times the expected run time without a promise, at
        most the time limit.

        One that should have ended continues for as long as it has been late: its end is unknown, but not now.
        """
        if execution.state is ExecutionState.STOPPING:
            return now_s
        run_s, placed_at_s = self.run_s(execution), execution.marks[Mark.PLACED]
        caution = caution if execution.promise is None else 1.0
        end_s = placed_at_s + caution * run_s
        end_s += 2 * max(now_s - end_s, 0.0)
        limit_s = execution.application.time_limit_s
        return max(end_s if limit_s is None else min(end_s, placed_at_s + limit_s), now_s)

    def _run_s_and_source(self, execution: Execution, limits_first: bool) -> tuple[float, EstimateSource]:
        """Return run time and source as a plain pair: long queues are ranked by it at every tick."""
        application = execution.application
        declared_s = application.expected_run_s
        limit_s = application.time_limit_s or math.inf
        if declared_s:
            return min(declared_s, limit_s), EstimateSource.DECLARED
        if limits_first and limit_s < math.inf:
            return limit_s, EstimateSource.TIME_LIMIT
        learned_s = self._past_runs.get(run_key(execution)) if self._past_runs else None
        if learned_s is not None and 0.0 <= learned_s < math.inf:
            return min(learned_s, limit_s), EstimateSource.PAST_RUNS
        return limit_s, EstimateSource.TIME_LIMIT if limit_s < math.inf else EstimateSource.UNKNOWN


def _guess(expected_s: float) -> float:
    return max(expected_s, _SHORTEST_S) if expected_s < math.inf else _RUN_S_UNKNOWN


def corrected_s(expected_s: float, ran_s: float, limit_s: float = math.inf) -> float:
    """Return the expected run time of an execution that has run for `ran_s`: corrections are added until it is longer,
    up to the limit.

    Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007: small corrections first, since most runs end soon after.
    """
    steps = chain(_CORRECTIONS_S, repeat(_CORRECTIONS_S[-1]))
    while expected_s < min(ran_s, limit_s):
        expected_s += next(steps)
    return min(expected_s, limit_s)
