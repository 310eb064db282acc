"""The order of the queue by the definition of the policy, computed again in the plainest way."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from lab.invariants.sharing import virtual_ends
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionId, Mark
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.ordering.virtual_time import arrival_of

# Rounding of logarithms and of sums of seconds.
_EQUAL = 1e-6
_LEARNED = frozenset({"f1", "f2", "f3", "f4"})
_PUBLISHED = _LEARNED | {"wfp3", "unicef"}
_WINDOW_S = 15 * 86_400
# The execution with the least value is served first.
Turn = tuple[float, ...]


class Turns:
    """The order of one queue. `known` is False if it cannot be computed by hand."""

    def __init__(self, snapshot: Snapshot, policy: Policy) -> None:
        self._snapshot = snapshot
        self._policy = policy
        self._estimates = snapshot.estimates(limits_first=policy.limits_first)
        self.known = policy.interactive_share == 0
        self._virtual: Mapping[ExecutionId, tuple[float, float]] = {}
        if self.known and policy.order == "psbs":
            arrivals = [arrival_of(e, self._estimates) for e in (*snapshot.queued, *snapshot.active)]
            self._virtual = virtual_ends(
                (*snapshot.departed, *arrivals), _cluster(snapshot).cores_milli, snapshot.now_s
            )
        self._taken = self._by_shares() if self.known and policy.tenants == "drf" else None

    def precedes(self, one: Execution, other: Execution) -> bool:
        """Return whether one certainly precedes the other, beyond rounding."""
        if self._taken is None:
            return _less(self._turn_of(one), self._turn_of(other))
        return _less((self._taken.get(one.id, math.nan),), (self._taken.get(other.id, math.nan),))

    def may_be_before(self, one: Execution, other: Execution) -> bool:
        """Return whether one may precede the other."""
        return not self.known or not self.precedes(other, one)

    def _turn_of(self, execution: Execution) -> Turn:
        """Return the priority, then the values of the order."""
        order = self._policy.order
        first: Turn = (-execution.priority,)
        if order == "psbs":
            left_s, ends_s = self._virtual[execution.id]
            if left_s <= _EQUAL and ends_s >= self._snapshot.now_s - _EQUAL:
                return (*first, math.nan)  # it ends virtually right now: by rounding it may or may not be late
            late = (0.0 if left_s <= 0 else min(left_s, 1.0), _attained_service(execution), ends_s)
            return first + (late if left_s <= _EQUAL else (1.0, left_s))
        if order in ("fifo", "las", "edf"):
            return (*first, self._standing(execution), execution.submitted_at_s)
        return (*first, self._urgency(execution))

    def _standing(self, execution: Execution) -> float:
        """Return the values that do not change while it waits: nothing, core-seconds held in earlier attempts, the
        deadline.
        """
        if self._policy.order == "edf":
            return math.inf if execution.deadline_s is None else execution.deadline_s
        return _attained_service(execution) if self._policy.order == "las" else 0.0

    def _urgency(self, execution: Execution) -> float:
        """Return the values that change, or follow from its known size and its wait."""
        policy = self._policy
        since_s = execution.submitted_at_s if execution.attempt == 1 else execution.marks[Mark.QUEUED]
        waited_s = self._snapshot.now_s - since_s
        aged = waited_s / policy.ageing_s if policy.ageing_s > 0 else 0.0
        if policy.order == "fair-share":
            return -(math.pow(2.0, -self._use_over_due(execution.tenant)) + policy.fair_share_age_weight * aged)
        run_s = max(self._estimates.order_s(execution), 1.0)
        if policy.order == "hrrn":
            return -(waited_s + run_s) / run_s
        if policy.order == "learned-ratio":
            return -(waited_s + 4 * 3600) / (run_s + 600)
        if policy.order in _LEARNED and waited_s >= _WINDOW_S:
            return -1e15 - waited_s
        if policy.order in _PUBLISHED:
            return _published_value(policy.order, waited_s, run_s, self._cores(execution))
        size = run_s
        if policy.order == "size":
            size *= self._cores(execution)
        return math.log2(size) - aged

    def _cores(self, execution: Execution) -> float:
        """Return the largest share of the total capacity, in cores."""
        capacity = total(node.total for node in self._snapshot.nodes)
        wanted = execution.application.total_resources()
        return max(_dominant(wanted, capacity) * capacity.cores_milli, wanted.cores_milli, 1) / 1000

    def _use_over_due(self, tenant: str) -> float:
        """Return its share of all recent use, over the share that its weight gives it among tenants that use or
        wait.
        """
        used, weights = self._snapshot.used, self._policy.tenant_shares
        tenants = {e.tenant for e in self._snapshot.queued} | set(used)
        if not sum(used.values()):
            return 0.0
        due = weights.get(tenant, 1.0) / sum(weights.get(tenant, 1.0) for tenant in tenants)
        return used.get(tenant, 0.0) / sum(used.values()) / due

    def _by_shares(self) -> Mapping[ExecutionId, float]:
        """Return positions by DRF, as far as no share, nor the order within a tenant, depends on rounding."""
        cluster, weights = _cluster(self._snapshot), self._policy.tenant_shares
        held: dict[str, Resources] = defaultdict(Resources)
        keeps = self._policy.preemption == "none"  # otherwise elastic services stay until a core needs the room
        for execution in self._snapshot.active:
            placed = [s for s in execution.services if s.alive and s.node is not None and (s.core or keeps)]
            held[execution.tenant] += total(execution.component_of(s).reservation for s in placed)
        waiting: dict[str, list[Execution]] = defaultdict(list)
        for execution in self._snapshot.queued:
            waiting[execution.tenant].append(execution)
        places: dict[ExecutionId, float] = {}
        while waiting:
            share = {tenant: _dominant(held[tenant], cluster) / weights.get(tenant, 1.0) for tenant in waiting}
            tenant = min(waiting, key=lambda text: (share[text], text))
            first = next((e for e in waiting[tenant] if self._is_first(e, waiting[tenant])), None)
            near = [text for text in waiting if share[text] != share[tenant] and share[text] - share[tenant] <= _EQUAL]
            if first is None or near:
                break
            places[first.id] = float(len(places))
            held[tenant] += first.application.core_resources()
            waiting[tenant].remove(first)
            if not waiting[tenant]:
                del waiting[tenant]
        return places

    def _is_first(self, execution: Execution, others: list[Execution]) -> bool:
        turn = self._turn_of(execution)
        return all(other is execution or _less(turn, self._turn_of(other)) for other in others)


def _published_value(order: str, waited_s: float, run_s: float, cores: float) -> float:
    """Return WFP3, UNICEF and F1 to F4 by their formulas; arrivals count from 15 days ago."""
    if order == "wfp3":
        return -cores * math.pow(waited_s / run_s, 3)
    if order == "unicef":
        # Infinite on one core: below all others, and among themselves ordered by waiting over run time.
        return -waited_s / run_s / math.log2(cores) if cores > 1 else -1e15 - waited_s / run_s
    run_s, arrival = max(run_s, 1.0), math.log10(max(_WINDOW_S - waited_s, 1.0))
    scores = {
        "f1": cores * math.log10(run_s) + 870 * arrival,
        "f2": cores * math.sqrt(run_s) + 25_600 * arrival,
        "f3": cores * run_s + 6_860_000 * arrival,
        "f4": math.sqrt(cores) * run_s + 530_000 * arrival,
    }
    return scores[order]


def _less(one: Turn, other: Turn) -> bool:
    for first, second in zip(one, other, strict=False):
        if first != second:
            return first < second and not second - first <= _EQUAL
    return False


def _attained_service(execution: Execution) -> float:
    """Return the core-seconds that services of a waiting execution held in earlier attempts."""
    return sum(
        (s.ended_at_s - s.started_at_s) * execution.component_of(s).reservation.cores_milli / 1000
        for s in execution.services
        if s.started_at_s is not None and s.ended_at_s is not None
    )


def _dominant(held: Resources, cluster: Resources) -> float:
    shares = [held.cores_milli / max(cluster.cores_milli, 1), held.memory_bytes / max(cluster.memory_bytes, 1)]
    return max(shares + [held.devices.get(kind, 0) / there for kind, there in cluster.devices.items() if there])


def _cluster(snapshot: Snapshot) -> Resources:
    return total(node.usable for node in snapshot.nodes)
