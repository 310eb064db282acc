"""Replay a log of rigid jobs through the production master, as the simulators of the literature do.

Order at equal times: first jobs end as estimated, then come submissions, then terminations. The master ticks on every
termination, and on every submission; for a pool of processors only if the new job fits now.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from statistics import fmean

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, service_id
from zoe_lib.domain.values.frozen import value
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import StoreLimits
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.ordering.estimate import corrected_s
from zoe_master.scheduler.what_if.calibration import ForecastCalibration, ForecastSpread
from zoe_master.scheduler.what_if.forecast import ForecastWait, wait_of
from zoe_simulator.jobs import Job, Run, Trace
from zoe_simulator.predictors import Predictor

_COMPONENT = "job"
# The naive forecast is the mean of this many waits that ended last.
_WAITS_OF_NAIVE = 20
# The store drops ended jobs whenever so many more have ended; this costs time in proportion to the jobs in it.
_ENDED_MAX = 1000
_FOREVER = ServiceBehaviour()
_ESTIMATED_END, _SUBMISSION, _TERMINATION = range(3)


@value(frozen=True, slots=True)
class Foretold:
    """The forecast of a job at its submission, and its outcome: waits in seconds.

    `naive_s` is the mean of the last waits before; None if there was none.
    """

    spread: ForecastSpread
    waited_s: float
    processors: float
    naive_s: float | None


TickCheck = Callable[[Tick, Policy, Iterable[Execution]], None]


class Replay:
    """One run of a trace under a policy.

    With `forecast_every` n, each n-th job gets a forecast of its start if it has to wait; `foretold`: the outcomes.
    With a `predictor`, the expected run time of a job is the prediction at its submission, at most the requested one,
    and backfill corrects it if the job runs longer. With `learn_limits`, requests are time limits, and the master
    expects run times by those that it has learned. `check` gets the store, and returns a function that is called after
    every tick with the policy and the executions that the master knows.
    """

    def __init__(
        self,
        trace: Trace,
        policy: Policy,
        exact_runtimes: bool = False,
        forecast_every: int | None = None,
        check: Callable[[MemoryStore], TickCheck] | None = None,
        predictor: Predictor | None = None,
        learn_limits: bool = False,
    ) -> None:
        self._trace = trace
        self._learn_limits = learn_limits
        self._exact = exact_runtimes
        self._predictor = predictor
        self._predicted_s: dict[str, float] = {}
        self._clock = SimulatedClock(trace.jobs[0].submit_s if trace.jobs else 0.0)
        self._store = MemoryStore(StoreLimits(retention_s=0.0))
        self._store.set_policy(policy, 0, self._clock.now_s(), "replay")
        self._backend = SimulatedBackend(trace.nodes, self._clock, behave=lambda _: _FOREVER)
        epoch = self._store.try_lead("replay")
        assert epoch is not None
        self._master = Master(self._store, self._backend, epoch, clock=self._clock)
        self._master.cache.correct_estimates = predictor is not None
        self._check = None if check is None else check(self._store)
        self._free = trace.processors
        self._ends: list[tuple[float, int, int, str]] = []
        self._jobs: dict[str, Job] = {}
        """Unfinished jobs."""
        self._submitted = 0
        self._ended: set[str] = set()
        """Jobs that have ended before their termination, in this moment."""
        self._pruned = 0
        self.runs: list[Run] = []
        self._forecast_every = forecast_every
        self._calibration = ForecastCalibration()
        self._told: dict[str, tuple[ForecastWait, ForecastSpread, float | None]] = {}
        self._waits: deque[float] = deque(maxlen=_WAITS_OF_NAIVE)
        self.foretold: list[Foretold] = []

    def run(self, progress: Callable[[int], None] = lambda _: None) -> list[Run]:
        """Replay every job; return the runs in order of their starts."""
        submissions = iter(self._trace.jobs)
        upcoming = next(submissions, None)
        while upcoming is not None or self._ends:
            if upcoming is not None and (upcoming.submit_s, _SUBMISSION) <= self._next_end():
                self._submit(upcoming)
                upcoming = next(submissions, None)
            else:
                self._end()
                progress(len(self.runs))
        return self.runs

    def _next_end(self) -> tuple[float, int]:
        return self._ends[0][:2] if self._ends else (math.inf, 0)

    def _submit(self, job: Job) -> None:
        self._move_to(job.submit_s)
        execution_id = f"j{self._submitted:08}"
        self._submitted += 1
        self._jobs[execution_id] = job
        self._store.submit(self._execution(job, execution_id), "replay")
        if not self._trace.pool or job.processors <= self._free:
            self._tick()
        if self._forecast_every is not None and self._submitted % self._forecast_every == 0:
            self._tell(execution_id)

    def _tell(self, execution_id: str) -> None:
        cache = self._master.cache
        cache.catch_up()
        snapshot = cache.snapshot(self._clock.now_s(), self._backend.nodes(), {})
        snapshot = replace(
            snapshot, queued=(*snapshot.queued, *cache.backlog.submitted_executions)
        )  # not processed by a tick yet
        wait = wait_of(snapshot, cache.policy, execution_id, snapshot.estimates())
        if wait is not None and wait.seconds < math.inf:
            spread = self._calibration.spread(wait.seconds, self._jobs[execution_id].processors)
            self._told[execution_id] = wait, spread, fmean(self._waits) if self._waits else None

    def _learn(self, execution_id: str, waited_s: float) -> None:
        (wait, spread, naive_s), processors = self._told.pop(execution_id), self._jobs[execution_id].processors
        self._calibration.learn(wait.seconds, spread.p90_s, waited_s, processors)
        self.foretold.append(Foretold(spread, waited_s, processors, naive_s))

    def _end(self) -> None:
        at_s, kind, number, execution_id = heapq.heappop(self._ends)
        self._move_to(at_s)
        if execution_id not in self._ended:
            self._end_services(execution_id)
        if kind == _ESTIMATED_END:
            self._ended.add(execution_id)
            heapq.heappush(self._ends, (at_s, _TERMINATION, number, execution_id))
            return
        self._tick()
        self._forget(execution_id)

    def _end_services(self, execution_id: str) -> None:
        job = self._jobs[execution_id]
        for index in range(job.services):
            self._backend.end(service_id(execution_id, _COMPONENT, index, 1))
        self._free += job.processors
        if self._predictor is not None:
            self._predictor.learn(job)

    def _forget(self, execution_id: str) -> None:
        """Keep only the run of a job, so that logs of any length fit into memory."""
        del self._jobs[execution_id]
        self._ended.discard(execution_id)
        self._predicted_s.pop(execution_id, None)
        ended = self._submitted - len(self._jobs)
        if ended - self._pruned >= _ENDED_MAX:
            self._pruned = ended
            self._store.prune(self._clock.now_s())

    def _execution(self, job: Job, execution_id: str) -> Execution:
        if self._learn_limits:
            return execution_of(job, execution_id, None, job.request_s)
        if self._predictor is None:
            return execution_of(job, execution_id, job.run_s if self._exact else job.request_s)
        predicted_s = self._predictor.expected_run_s(job)
        expected_s = job.request_s if predicted_s is None else predicted_s
        self._predicted_s[execution_id] = expected_s
        return execution_of(job, execution_id, expected_s, job.request_s)

    def _ends_as_estimated(self, execution_id: str, job: Job) -> bool:
        if self._exact:
            return True
        predicted_s = self._predicted_s.get(execution_id, job.request_s)
        return job.run_s == corrected_s(predicted_s, job.run_s, job.request_s)

    def _tick(self) -> None:
        self._tick_once()
        while self._master.cache.backlog.submitted_executions:  # the number that a tick processes
            self._tick_once()

    def _tick_once(self) -> None:
        now_s = self._clock.now_s()
        tick = self._master.tick()
        if self._check is not None:
            self._check(tick, self._master.policy, self._master.cache.executions())
        for execution_id in tick.plan.starts:
            job = self._jobs[execution_id]
            self._free -= job.processors
            self.runs.append(Run(job, now_s, now_s + job.run_s))
            if now_s > job.submit_s:
                self._waits.append(now_s - job.submit_s)
            if execution_id in self._told:
                self._learn(execution_id, now_s - job.submit_s)
            kind = _ESTIMATED_END if self._ends_as_estimated(execution_id, job) else _TERMINATION
            heapq.heappush(self._ends, (now_s + job.run_s, kind, len(self.runs), execution_id))

    def _move_to(self, at_s: float) -> None:
        self._clock.advance(at_s - self._clock.now_s())


def execution_of(job: Job, execution_id: str, estimate_s: float | None, limit_s: float | None = None) -> Execution:
    """Return the job as a user submits it: one component, all of it core; `limit_s` if the estimate is not the
    limit. Without a program in the log, each user runs another one.
    """
    component = Component(
        _COMPONENT,
        "trace",
        job.reservation,
        (job.application or f"user_{job.user}",),
        essential_count=job.services,
        total_count=job.services,
        labels=job.labels,
    )
    application = Application(
        name=str(job.id), components=(component,), expected_run_s=estimate_s, time_limit_s=limit_s
    )
    return Execution(execution_id, application.name, "trace", job.user, application, job.submit_s)


def in_trace_order(runs: list[Run]) -> Iterator[Run]:
    """Return the runs by submission, as in the log."""
    return iter(sorted(runs, key=lambda run: (run.job.submit_s, run.job.id)))
