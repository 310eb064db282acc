"""Expect the next run time from ended runs of the same program. Pure; the master and replays of logs both use it.

The mean of the five nearest of a user's last 200 runs, by cores and requested run time, orders whole logs better than
the requests do (decision 54)."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Sequence
from heapq import nsmallest
from statistics import fmean, median

from zoe_lib.domain.applications.program import without_numbers
from zoe_lib.domain.values.frozen import value
from zoe_lib.run_times.likeness import programs_that_tell
from zoe_lib.run_times.samples import RunKey

_NEAREST = 5
_KEPT = 200
_PROGRAMS_MAX = 20_000
# A run counts as at most this many times the median of the nearest, so that an odd one moves their mean by less than 2.
_ODD = 3.0


@value(frozen=True, slots=True)
class _EndedRun:
    program: str
    cores: int
    request: int
    ran_s: float


_Runs = OrderedDict[tuple[str, ...], deque[_EndedRun]]


class RunTimesByProgram:
    """The last 200 runs of each program: of each user, and of each tenant for users without such runs.

    Runs with other numbers count only if at least two numbers were seen, and their run times are alike.
    """

    def __init__(self) -> None:
        self._of_user: _Runs = OrderedDict()
        self._of_tenant: _Runs = OrderedDict()

    def learn(self, kind: RunKey, ran_s: float) -> None:
        """Add a run that has ended; no effect if its time is no finite number from 0.

        Beyond 20,000 programs, the one that ended least recently is forgotten.
        """
        if not 0.0 <= ran_s < math.inf:
            return
        tenant, user, program, cores, request = kind
        run, words = _EndedRun(program, cores, request, ran_s), without_numbers(program)
        _add(self._of_user, (tenant, user, words), run)
        _add(self._of_tenant, (tenant, words), run)

    def expected_s(self, kind: RunKey) -> float | None:
        """Return the expected run time in seconds; None if nothing like it has ended in the tenant."""
        tenant, _, program, cores, request = kind
        found = self._own(kind) or _comparable(self._of_tenant.get((tenant, without_numbers(program)), ()), program)
        if not found:
            return None
        nearest = nsmallest(
            _NEAREST, reversed(found), key=lambda run: abs(run.cores - cores) + abs(run.request - request)
        )
        return typical_s([run.ran_s for run in nearest])

    def knows_user(self, kind: RunKey) -> bool:
        """Return whether the user's own runs give the expectation."""
        return bool(self._own(kind))

    def _own(self, kind: RunKey) -> Sequence[_EndedRun]:
        tenant, user, program = kind[:3]
        return _comparable(self._of_user.get((tenant, user, without_numbers(program)), ()), program)


def typical_s(run_s: Sequence[float]) -> float:
    """Return the mean of run times, each at most three times their median."""
    most_s = _ODD * median(run_s)
    return fmean(min(seconds, most_s) for seconds in run_s)


def _comparable(runs: Collection[_EndedRun], program: str) -> Sequence[_EndedRun]:
    """Return the runs with the same numbers, else all if numbers do not matter."""
    run_s = defaultdict(list)
    for run in runs:
        run_s[run.program].append(run.ran_s)
    programs = programs_that_tell(run_s, program)
    return [run for run in runs if run.program in programs]


def _add(runs: _Runs, key: tuple[str, ...], run: _EndedRun) -> None:
    known = runs.setdefault(key, deque(maxlen=_KEPT))
    known.append(run)
    runs.move_to_end(key)
    if len(runs) > _PROGRAMS_MAX:
        runs.popitem(last=False)
