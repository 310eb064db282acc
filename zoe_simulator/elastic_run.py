"""Run a workload of elastic applications through the production master, with progress of the running components."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from zoe_lib.domain.applications.application import Application, ApplicationKind, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ServiceState
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.simulated import SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.storage.reconciler import InlineReconciler
from zoe_simulator.progress import Progress
from zoe_simulator.stores.shared_store import Reader
from zoe_simulator.stores.store_use import StoreUse
from zoe_simulator.workload import Arrival

_COMPONENT = "worker"
# A preempted service is gone in the next tick; more ticks at one time mean that the master does not settle.
_TICKS_AT_ONCE_MAX = 50
# Shares are whole bytes per second, and demands are rounded.
_GRANTED = 0.999


@dataclass(frozen=True, slots=True)
class FinishedApplication:
    """An ended application, in seconds of the simulation."""

    arrival: Arrival
    start_s: float
    end_s: float

    @property
    def wait_s(self) -> float:
        """Return the time from submission to start."""
        return self.start_s - self.arrival.submit_s

    @property
    def turnaround_s(self) -> float:
        """Return the time from submission to end."""
        return self.end_s - self.arrival.submit_s

    @property
    def bounded_slowdown(self) -> float:
        """Return turnaround over the run time with all components, both at least ten seconds; at least one."""
        return max(1.0, self.turnaround_s / max(self.arrival.run_s, 10.0))


class ElasticRun:
    """One workload under one policy, reading from a store if there is one.

    `finished` is in order of ends; `core_seconds` is the reservation while work arrived. `wished_s` is the run time of
    applications that prefer bandwidth, `granted_s` the part of it with the preferred bandwidth, or with all that they
    could use. A preempted elastic service loses the share `loss` of its work, which has to be repeated. `read_bytes`
    were read, `network_bytes` of them from other machines.
    """

    def __init__(
        self,
        workload: Sequence[Arrival],
        nodes: Sequence[Node],
        policy: Policy,
        use: StoreUse | None = None,
        loss: float = 0.0,
    ) -> None:
        self._workload = workload
        self._loss = loss
        self._began_s: dict[str, float] = {}  # by elastic service with a node
        self.lost_s = 0.0
        self._clock = SimulatedClock()
        self._store = MemoryStore()
        self._store.set_policy(policy, 0, 0.0, "study")
        self._backend = SimulatedBackend(nodes, self._clock)
        epoch = self._store.try_lead("study")
        assert epoch is not None
        self._use = use
        self._shared = use.store() if use is not None else None
        controlled = use is not None and use.is_controlled
        reconciler = InlineReconciler(self._shared.controller) if controlled and self._shared is not None else None
        self._master = Master(self._store, self._backend, epoch, clock=self._clock, storage=reconciler)
        self._waiting: dict[str, Arrival] = {}
        self._active: dict[str, Progress] = {}
        self._started_s: dict[str, float] = {}
        self._last_submission_s = workload[-1].submit_s if workload else 0.0
        self.finished: list[FinishedApplication] = []
        self.core_seconds = 0.0
        self.wished_s = self.granted_s = 0.0
        self.read_bytes = self.network_bytes = 0.0
        self.preempted = 0
        self.ticks = 0

    def run(self) -> Sequence[FinishedApplication]:
        """Run until the last application has ended."""
        upcoming = iter(self._workload)
        following = next(upcoming, None)
        while following is not None or self._active or self._waiting:
            now_s = self._clock.now_s()
            next_end_s = now_s + min((p.left_s for p in self._active.values()), default=math.inf)
            next_submit_s = following.submit_s if following is not None else math.inf
            self._advance_to(min(next_end_s, next_submit_s))
            self._end_what_is_done()
            while following is not None and following.submit_s <= self._clock.now_s():
                self._submit(following)
                following = next(upcoming, None)
            self._tick_until_at_rest()
        return self.finished

    def _advance_to(self, at_s: float) -> None:
        if at_s == math.inf:
            raise RuntimeError(f"{len(self._waiting)} applications wait and nothing runs")
        seconds = at_s - self._clock.now_s()
        while_arriving_s = max(min(at_s, self._last_submission_s) - self._clock.now_s(), 0.0)
        for progress in self._active.values():
            self.core_seconds += progress.running * progress.arrival.component.cores_milli / 1000 * while_arriving_s
            self._count_wish(progress, seconds)
            self._count_reading(progress, seconds)
            progress.advance(seconds)
        self._clock.advance(seconds)

    def _submit(self, arrival: Arrival) -> None:
        execution_id = f"a{arrival.number:06}"
        component = Component(
            _COMPONENT,
            "study",
            arrival.component,
            essential_count=arrival.core,
            preferred_count=arrival.preferred,
            total_count=arrival.total,
        )
        storage = self._use.demand_of(arrival) if self._use is not None else None
        kind = ApplicationKind.INTERACTIVE if arrival.interactive else ApplicationKind.BATCH
        application = Application(
            execution_id, (component,), expected_run_s=arrival.estimate_s, storage=storage, kind=kind
        )
        fresh = Execution(
            execution_id,
            execution_id,
            arrival.tenant,
            "study",
            application,
            arrival.submit_s,
            deadline_s=arrival.deadline_s,
        )
        self._waiting[execution_id] = arrival
        self._store.submit(fresh, "study")

    def _end_what_is_done(self) -> None:
        now_s = self._clock.now_s()
        for execution_id in [e for e, progress in self._active.items() if progress.left_s == 0.0]:
            progress = self._active.pop(execution_id)
            self.finished.append(FinishedApplication(progress.arrival, self._started_s.pop(execution_id), now_s))
            execution = self._master.cache.get(execution_id)
            for service in execution.services if execution is not None else ():
                if service.alive and service.node is not None:
                    self._backend.end(service.id)

    def _tick_until_at_rest(self) -> None:
        for _ in range(_TICKS_AT_ONCE_MAX):
            plan = self._master.tick().plan
            self.ticks += 1
            self.preempted += sum(map(len, plan.preempt.values()))
            self._count_losses(plan)
            for execution_id in plan.starts:
                arrival = self._waiting.pop(execution_id)
                read_bytes = self._use.read_bytes_of(arrival) if self._use is not None else 0.0
                self._active[execution_id] = Progress(arrival, read_bytes)
                self._started_s[execution_id] = self._clock.now_s()
            if not plan.preempt and not plan.reserved and not self._master.cache.backlog.submitted_executions:
                self._count_running()
                self._share()
                return
        raise RuntimeError("the master does not come to rest")

    def _count_losses(self, plan: Plan) -> None:
        """Count only part of the work of preempted elastic services; `lost_s` adds up the lost component-seconds."""
        if not self._loss:
            return
        now_s = self._clock.now_s()
        for execution_id, service_ids in plan.preempt.items():
            for service_id in service_ids:
                lost_s = self._loss * (now_s - self._began_s.pop(service_id, now_s))
                self._active[execution_id].lose(lost_s)
                self.lost_s += lost_s
        for placements in (*plan.starts.values(), *plan.elastic.values()):
            self._began_s.update({placement.service_id: now_s for placement in placements})

    def _count_running(self) -> None:
        for execution_id, progress in self._active.items():
            execution = self._master.cache.get(execution_id)
            assert execution is not None
            progress.running = sum(
                s.node is not None and s.alive and s.state is not ServiceState.STOPPING for s in execution.services
            )

    def _share(self) -> None:
        """Give the reading applications their bandwidth until something changes."""
        if self._shared is None:
            return
        readers = []
        for execution_id, progress in self._active.items():
            execution = self._master.cache.get(execution_id)
            if execution is not None and progress.read_bytes > 0 and progress.running:
                there = (s.node for s in execution.services if s.node is not None and s.alive)
                readers.append(Reader(progress.arrival.tenant, progress, Counter(there)))
        self._shared.share(readers)

    def _count_reading(self, progress: Progress, seconds: float) -> None:
        read = progress.read_bytes * min(progress.rate * seconds, 1.0 - progress.done)
        self.read_bytes += read
        self.network_bytes += read * progress.remote_share

    def _count_wish(self, progress: Progress, seconds: float) -> None:
        reading = progress.arrival.reading
        if self._shared is None or reading is None or reading.promised is None or not progress.running:
            return
        self.wished_s += seconds
        if progress.bandwidth >= min(reading.promised, progress.demand) * _GRANTED:
            self.granted_s += seconds
