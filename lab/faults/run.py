"""Run the production master over executions and faults, with every invariant checked after every tick.

Time advances to the next due event: a submission, a change of a service, a fault or its end, or the timer of the
master's loop while a change is pending. All randomness comes from the seed and the behaviours, so the same call gives
exactly the same run.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

from lab.faults.kinds import Fault, Occurrence
from lab.faults.late import Lateness, LateStorage
from lab.faults.parts import BreakingBackend, BreakingStore
from lab.invariants import Invariants
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import TERMINAL_STATES, Execution, ExecutionState, ServiceState
from zoe_lib.store.errors import NotLeader, StoreUnavailable
from zoe_master.backends.base import BackendError, ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.state.crash_points import CrashPoint
from zoe_master.state.state_cache import CHANGES_PER_SET
from zoe_master.waker import TickWaker

_TIMER_S = 5.0
_TICKS_AT_ONCE_MAX = 1000
_ENTRIES = 1000
# The most further calls after which a store breaks, and the most starts that are lost together.
_CALLS_MAX = 20
_STARTS_LOST_MAX = 3


class Death(Exception):  # noqa: N818 - it is what happens, not an error
    """The master dies at this point."""


class FaultRun:
    """One run; `policies` are later settings of an admin, with their times.

    `occurred` counts the faults that had an effect, `masters` the masters that have led.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        submissions: Iterable[Execution],
        behave: Callable[[ServiceStart], ServiceBehaviour],
        policy: Policy,
        faults: Iterable[Occurrence],
        controller: SimulatedController | None = None,
        policies: Iterable[tuple[float, Policy]] = (),
    ) -> None:
        self._order = itertools.count()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._submitted = []
        for execution in submissions:
            self._submitted.append(execution.id)
            self._schedule_at(execution.submitted_at_s, self._submit(execution))
        for occurrence in faults:
            self._schedule_at(occurrence.at_s, self._begin(occurrence))
        for at_s, later in policies:
            self._schedule_at(at_s, self._set_policy(later))
        self._clock = SimulatedClock(self._due[0][0] if self._due else 0.0)
        self._waker = TickWaker()
        self.store = BreakingStore()
        self.store.set_policy(policy, 0, self._clock.now_s(), "faults")
        self._backend = BreakingBackend(nodes, self._clock, self._waker, behave=behave)
        self._nodes = {node.name: node for node in nodes}
        self._controller = controller
        self._lateness = Lateness(self._clock, self._schedule_after)
        self._reconciler: LateStorage | None = None
        self._invariants = Invariants(self.store.another(), controller)
        self._dies_at: CrashPoint | None = None
        self._master: Master | None = None
        self._reader = self.store.another()  # never breaks
        self._strike: Mapping[Fault, Callable[[float, float], bool]] = {
            Fault.NODE_DOWN: self._node_down,
            Fault.SERVICE_DEATH: self._service_death,
            Fault.MASTER_DEATH: self._master_death,
            Fault.STORE_AWAY: lambda lasts_s, _: self._set_for(lasts_s, self.store, "available", False),
            Fault.STORE_BREAKS: self._store_breaks,
            Fault.STARTS_LOST: self._starts_lost,
            Fault.STARTS_REFUSED: lambda lasts_s, _: self._set_for(lasts_s, self._backend, "refuses", True),
            Fault.BACKEND_AWAY: lambda lasts_s, _: self._set_for(lasts_s, self._backend, "away", True),
            Fault.EVENTS_LATE: self._events_late,
            Fault.STORAGE_AWAY: self._storage_away,
            Fault.STORAGE_SLOW: self._storage_slow,
        }
        self.occurred: Counter[Fault] = Counter()
        self.masters = 0
        self.changes_per_set = CHANGES_PER_SET
        """Most executions that a transaction changes: the smaller, the more points between two transactions."""

    def run(self) -> Sequence[Execution]:
        """Run until all executions that can run have ended; return all executions in the given order."""
        while self._due or self._has_unfinished():
            next_s = min(self._due[0][0] if self._due else math.inf, self._next_of_services_s())
            if next_s == math.inf:
                break  # the rest can never run, and no node will come
            self._clock.advance(max(next_s - self._clock.now_s(), 0.0))
            while self._due and self._due[0][0] <= self._clock.now_s():
                heapq.heappop(self._due)[2]()
            self._tick_until_at_rest()
        return [self._reader.execution(execution_id) for execution_id in self._submitted]

    def digest(self) -> str:
        """Return a hash of the whole journal without the ids of plans: equal runs have equal digests."""
        hashed, after = sha256(), 0
        while entries := self._reader.journal(after, _ENTRIES):
            after = entries[-1].id
            for e in entries:
                hashed.update(json.dumps([e.kind, e.at_s, e.execution_id, e.version, e.data], sort_keys=True).encode())
        return hashed.hexdigest()

    # Time

    def _schedule_at(self, at_s: float, do: Callable[[], None]) -> None:
        heapq.heappush(self._due, (at_s, next(self._order), do))

    def _schedule_after(self, seconds: float, do: Callable[[], None]) -> None:
        self._schedule_at(self._clock.now_s() + seconds, do)

    def _has_unfinished(self) -> bool:
        counts = self._reader.counts()
        return any(count for state, count in counts.items() if state not in TERMINAL_STATES)

    def _next_of_services_s(self) -> float:
        """Return the time of the next change of a service, due action of the master, or timer."""
        changes = [
            self._backend.next_change_s(),
            self._master.next_due_s(self._clock.now_s()) if self._master else None,
        ]
        due = [at_s for at_s in changes if at_s is not None and at_s > self._clock.now_s()]
        if self._under_way():
            due.append(self._clock.now_s() + _TIMER_S)
        return min(due, default=math.inf)

    def _under_way(self) -> bool:
        """Return whether the next poll by the master's timer may find an unannounced change."""
        if self._master is None or self._backend.away or self._backend.refuses or self._backend.late is not None:
            return self._has_unfinished()
        passing = (ServiceState.STARTING, ServiceState.STOPPING)
        executions = self._master.cache.executions()
        return any(
            e.state is ExecutionState.SUBMITTED or any(s.state in passing for s in e.services) for e in executions
        )

    # The master

    def _tick_until_at_rest(self) -> None:
        for _ in range(_TICKS_AT_ONCE_MAX):
            try:
                raced = self._tick()
            except BackendError:
                return  # the loop waits and retries
            except (NotLeader, StoreUnavailable, Death):
                self._master = None
                self._dies_at, self.store.calls_left = None, None
                if not self.store.available:
                    return
                raced = True
            if not raced and not self._waker.wait(0):
                return
        raise RuntimeError("the master does not come to rest")

    def _tick(self) -> bool:
        if self._master is None:
            self._master = self._lead()
        tick = self._master.tick()
        self._invariants.check(tick, self._master.policy, self._master.cache.executions())
        return tick.is_due_again

    def _lead(self) -> Master:
        self.store.stop_leading()
        epoch = self.store.try_lead("faults")
        assert epoch is not None
        self.masters += 1
        if self._reconciler is not None:
            self._reconciler.close()  # it died with its master
        if self._controller is not None:
            self._reconciler = LateStorage(self._controller, self._lateness, self._waker)
        return Master(
            self.store,
            self._backend,
            epoch,
            clock=self._clock,
            hit=self._hit,
            storage=self._reconciler,
            changes_per_set=self.changes_per_set,
        )

    def _hit(self, step: CrashPoint) -> None:
        if step is self._dies_at:
            raise Death(step)

    # Events

    def _submit(self, execution: Execution) -> Callable[[], None]:
        def submit() -> None:
            if self.store.available:
                self._reader.submit(execution, "faults")
            else:
                self._schedule_after(_TIMER_S, submit)  # as a client does

        return submit

    def _set_policy(self, policy: Policy) -> Callable[[], None]:
        def set_policy() -> None:
            if self.store.available:
                self._reader.set_policy(policy, self._reader.policy().version, self._clock.now_s(), "faults")
            else:
                self._schedule_after(_TIMER_S, set_policy)

        return set_policy

    def _begin(self, occurrence: Occurrence) -> Callable[[], None]:
        def begin() -> None:
            if self._strike[occurrence.fault](occurrence.lasts_s, occurrence.draw):
                self.occurred[occurrence.fault] += 1

        return begin

    def _set_for(self, seconds: float, what: object, name: str, value: object) -> bool:
        """Set an attribute, and restore it after a while."""
        before = getattr(type(what), name, not value)
        setattr(what, name, value)
        self._schedule_after(seconds, lambda: setattr(what, name, before))
        return True

    def _node_down(self, lasts_s: float, draw: float) -> bool:
        ready = sorted(node.name for node in self._backend.nodes() if node.ready)
        if not ready:
            return False
        name = ready[int(draw * len(ready))]
        self._backend.lose_node(name)
        self._schedule_after(lasts_s, lambda: self._backend.set_node(self._nodes[name]))
        return True

    def _service_death(self, _lasts_s: float, draw: float) -> bool:
        running = self._backend.running()
        if not running:
            return False
        self._backend.kill(running[int(draw * len(running))].service_id)
        return True

    def _master_death(self, _lasts_s: float, draw: float) -> bool:
        self._dies_at = list(CrashPoint)[int(draw * len(CrashPoint))]
        return True

    def _store_breaks(self, _lasts_s: float, draw: float) -> bool:
        self.store.calls_left = int(draw * _CALLS_MAX)
        return True

    def _starts_lost(self, _lasts_s: float, draw: float) -> bool:
        self._backend.starts_lost += 1 + int(draw * _STARTS_LOST_MAX)
        return True

    def _events_late(self, lasts_s: float, _draw: float) -> bool:
        return self._set_for(lasts_s, self._backend, "late", self._backend.observe_truly())

    def _storage_away(self, lasts_s: float, _draw: float) -> bool:
        return self._controller is not None and self._set_for(lasts_s, self._controller, "down", True)

    def _storage_slow(self, lasts_s: float, draw: float) -> bool:
        takes_s = 2 * draw * Lateness.timeout_s  # every second time longer than the timeout
        return self._controller is not None and self._set_for(lasts_s, self._lateness, "takes_s", takes_s)
