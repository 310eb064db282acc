"""Learned run times for threads beside the loop: the loop only records submissions and ends."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import Execution, ExecutionId, Mark
from zoe_lib.domain.values.frozen import changed, value
from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.samples import kind_of, sample_of, setting_of
from zoe_master.scheduler.promising.choices import numbers_of

_NEWS_MAX = 20_000


@value(frozen=True, slots=True)
class RunTimeChoice:
    """Run time with this many elastic services, in seconds. samples, wide: see `RunTimeAnswer`."""

    elastic: int
    cores: float
    p50_s: float
    p90_s: float
    samples: int
    wide: bool


@value(frozen=True, slots=True)
class RunTimeWithin:
    """Run time in seconds that holds with a chance; samples: 0 if declared."""

    seconds: float
    samples: int
    wide: bool


class LearnedRunTimes:
    """One for each leader; several threads may use it. News beyond 20,000 push out the oldest."""

    def __init__(self) -> None:
        self._times = RunTimes()
        self._lock = threading.Lock()
        self._news: deque[tuple[Execution, bool]] = deque(maxlen=_NEWS_MAX)

    def note(self, execution: Execution) -> None:
        """Queue an execution that was submitted, or has ended, for a thread."""
        self._news.append((execution, execution.terminal))

    def recall(self, ended: Iterable[Execution]) -> None:
        """Put executions that ended before this master began to lead first, in their original order."""
        happened: list[tuple[float, bool, Execution]] = []
        for execution in ended:
            happened.append((execution.submitted_at_s, False, execution))
            happened.append((execution.marks.get(Mark.ENDED, execution.submitted_at_s), True, execution))
        for _, is_end, execution in sorted(happened, key=lambda item: item[:2], reverse=True):
            self._news.appendleft((execution, is_end))

    def work_off(self, most: int) -> int:
        """Learn from at most this many recorded executions; return how many."""
        taken: dict[tuple[ExecutionId, bool], Execution] = {}
        done = 0
        while done < most and self._news:
            try:
                execution, ended = self._news.popleft()
            except IndexError:
                break
            # An end recorded again, once its transfers are known, is learned once, at its first position.
            taken[execution.id, ended] = execution
            done += 1
        for (_, ended), execution in taken.items():
            with self._lock:
                self._learn(execution, ended=ended)
        return done

    def choices(self, application: Application, tenant: str, user: str) -> Sequence[RunTimeChoice]:
        """Return the run time with none of its elastic services, 1, 2, 4 and so on, and all of them; empty if its kind
        is unknown.
        """
        kind = (tenant, user, application.program)
        found = []
        for elastic in numbers_of(application):
            setting = setting_of(application, elastic)
            with self._lock:
                answer = self._times.answer(kind, setting)
            if answer is None:
                return ()
            found.append(RunTimeChoice(elastic, setting.cores, answer.p50_s, answer.p90_s, answer.samples, answer.wide))
        return found

    def run_time_within(
        self,
        application: Application,
        tenant: str,
        user: str,
        elastic: int,
        chance: float,
        rate: int | None = None,
        views: bool | None = None,
    ) -> RunTimeWithin | None:
        """Return the run time with this many elastic services that holds with a chance; None if unknown. `rate`: bytes
        per second from the object store; None: its usual rate. `views`: whether it reads through views; None: its usual
        way.

        An unknown kind takes its declared run time, and proportionally longer with fewer cores.
        """
        kind, setting = (tenant, user, application.program), changed(setting_of(application, elastic), views=views)
        if rate is not None:
            setting = changed(setting, rate=float(rate), guaranteed=float(rate))
        with self._lock:
            seconds, known = self._times.within_s(kind, setting, chance), self._times.answer(kind, setting)
        if seconds is not None and known is not None:
            return RunTimeWithin(seconds, known.samples, known.wide)
        if not application.expected_run_s:
            return None
        longer = max(setting_of(application).cores / setting.cores, 1.0)
        return RunTimeWithin(application.expected_run_s * longer, 0, wide=True)

    def ways_to_read(self, application: Application, tenant: str, user: str) -> frozenset[bool]:
        """Return the ways to read for which the amount is known: through views (True), plainly (False)."""
        with self._lock:
            return self._times.ways_to_read((tenant, user, application.program))

    def _learn(self, execution: Execution, *, ended: bool) -> None:
        kind = kind_of(execution)
        if not ended:
            self._times.predict_submitted(execution.id, kind, setting_of(execution.application))
        elif (sample := sample_of(execution)) is not None:
            # Its reads may be known some seconds after its end.
            if not self._times.amend(execution.id, kind, sample):
                self._times.learn(execution.id, kind, sample)
        else:
            self._times.discard(execution.id)
