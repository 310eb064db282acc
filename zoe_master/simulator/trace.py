"""Replays a log of rigid jobs through the production master: one node of P cores, one service of p cores a job.

Order at equal times, as in the simulators of the literature: what ends as estimated is free first, then come
submissions, then terminations. On a submission the master ticks only if the new job fits now; on a termination always.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from zoe_lib.domain.application import Application, Component
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.execution import Execution, service_id
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.resources import Resources
from zoe_lib.store.memory import MemoryStore
from zoe_master.backends.simulated import Behaviour, ManualClock, SimulatedBackend
from zoe_master.master import Master
from zoe_master.simulator.swf import Job, Trace

_NODE = "machine"
_COMPONENT = "job"
_FOREVER = Behaviour()
_ESTIMATED_END, _SUBMISSION, _TERMINATION = range(3)


@dataclass(frozen=True, slots=True)
class Start:
    """A job and when it began, in the log's seconds."""

    job: Job
    start_s: float

    @property
    def wait_s(self) -> float:
        """From submission to start."""
        return self.start_s - self.job.submit_s


class Replay:
    """One run of a trace under a policy."""

    def __init__(self, trace: Trace, policy: Policy, exact_runtimes: bool = False) -> None:
        self._trace = trace
        self._exact = exact_runtimes
        self._clock = ManualClock(trace.jobs[0].submit_s if trace.jobs else 0.0)
        self._store = MemoryStore()
        self._store.set_policy(policy, 0, self._clock(), "replay")
        node = Node(_NODE, Resources(trace.processors * 1000))
        self._backend = SimulatedBackend([node], self._clock, behave=lambda _: _FOREVER)
        epoch = self._store.try_lead("replay")
        assert epoch is not None
        self._master = Master(self._store, self._backend, epoch, clock=self._clock)
        self._free = trace.processors
        self._ends: list[tuple[float, int, int, str]] = []
        self._jobs: dict[str, Job] = {}
        self._ended: set[str] = set()
        self.starts: list[Start] = []

    def run(self, progress: Callable[[int], None] = lambda _: None) -> list[Start]:
        """Replay every job; the starts in order of time."""
        submissions = iter(self._trace.jobs)
        upcoming = next(submissions, None)
        while upcoming is not None or self._ends:
            if upcoming is not None and (upcoming.submit_s, _SUBMISSION) <= self._next_end():
                self._submit(upcoming)
                upcoming = next(submissions, None)
            else:
                self._end()
                progress(len(self.starts))
        return self.starts

    def _next_end(self) -> tuple[float, int]:
        return self._ends[0][:2] if self._ends else (math.inf, 0)

    def _submit(self, job: Job) -> None:
        self._move_to(job.submit_s)
        execution_id = f"j{len(self._jobs):08}"
        self._jobs[execution_id] = job
        application = Application(
            name=str(job.id),
            components=(Component(_COMPONENT, "trace", Resources(job.processors * 1000)),),
            expected_run_s=self._estimate_s(job),
        )
        fresh = Execution(execution_id, str(job.id), "trace", job.user, application, job.submit_s)
        self._store.submit(fresh, "replay")
        if job.processors <= self._free:
            self._tick()

    def _end(self) -> None:
        at_s, kind, number, execution_id = heapq.heappop(self._ends)
        self._move_to(at_s)
        if execution_id not in self._ended:
            self._ended.add(execution_id)
            self._backend.end(service_id(execution_id, _COMPONENT, 0, 1))
            self._free += self._jobs[execution_id].processors
        if kind == _ESTIMATED_END:
            heapq.heappush(self._ends, (at_s, _TERMINATION, number, execution_id))
        else:
            self._tick()

    def _estimate_s(self, job: Job) -> float:
        return job.run_s if self._exact else job.request_s

    def _tick(self) -> None:
        now_s = self._clock()
        for execution_id in self._master.tick().plan.starts:
            job = self._jobs[execution_id]
            self._free -= job.processors
            self.starts.append(Start(job, now_s))
            kind = _ESTIMATED_END if job.run_s == self._estimate_s(job) else _TERMINATION
            heapq.heappush(self._ends, (now_s + job.run_s, kind, len(self.starts), execution_id))

    def _move_to(self, at_s: float) -> None:
        self._clock.advance(at_s - self._clock())


def in_trace_order(starts: list[Start]) -> Iterator[Start]:
    """The starts by submission, as the log has the jobs."""
    return iter(sorted(starts, key=lambda start: (start.job.submit_s, start.job.id)))
