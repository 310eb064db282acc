"""Orders by name: which executions the policy serves first.

An order ranks waiting executions (whose core is tried first) and running ones (which get elastic services first and
lose them last, when a core needs room). For running ones, the wait ended when they were placed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ACTIVE_STATES, Execution, Mark
from zoe_lib.domain.values.conditions import NO_CONDITIONS
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.ordering.capacity import dominant_cores
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.published_orders import (
    WINDOW_S,
    ByArrival,
    arrival_in_window,
    f1,
    f2,
    f3,
    f4,
    learned_ratio,
    unicef,
    wfp3,
)
from zoe_master.scheduler.ordering.virtual_time import NOBODY, VirtualTime

SortKey = tuple[float, ...]

_LEAST_S = 1e-9


@value(frozen=True, slots=True)
class QueueContext:
    """What orders use in addition to the execution.

    `usage`: each tenant's share of recent use, relative to its due; `virtual`: processor sharing emulated until now;
    `capacity`: the total of all nodes.
    """

    now_s: float
    policy: Policy
    estimates: Estimates
    usage: Mapping[str, float] = field(default_factory=dict)
    virtual: VirtualTime = NOBODY
    capacity: Resources = field(default_factory=Resources)

    def waited_s(self, execution: Execution) -> float:
        """Return the time since `waits_since_s` to its placement, or until now."""
        since_s = waits_since_s(execution)
        until_s = execution.marks[Mark.PLACED] if execution.state in ACTIVE_STATES else self.now_s
        return max(until_s - since_s, 0.0)

    def run_s(self, execution: Execution) -> float:
        """Return the expected run time in seconds, at least one; an hour if unknown."""
        return self.estimates.order_s(execution)

    def remaining_s(self, execution: Execution) -> float:
        """Return the expected rest of the run time."""
        if execution.state not in ACTIVE_STATES:
            return self.run_s(execution)
        return max(self.run_s(execution) - (self.now_s - execution.marks[Mark.PLACED]), _LEAST_S)


Order = Callable[[Execution, QueueContext], SortKey]


def waits_since_s(execution: Execution) -> float:
    """Return when it was submitted, or when its last attempt ended or its conditions were met."""
    since_s = execution.submitted_at_s
    if execution.attempt > 1 or execution.conditions is not NO_CONDITIONS:
        return execution.marks.get(Mark.QUEUED, since_s)
    return since_s


def size(execution: Execution, moment: QueueContext) -> float:
    """Return the expected run time in seconds times the share of the cluster, in cores: the area of the execution.

    The share is that of the most requested resource (`dominant_cores`).
    """
    return moment.run_s(execution) * wanted_cores(execution, moment)


def attained_service(execution: Execution, now_s: float) -> float:
    """Return the core-seconds of its services so far, in all attempts."""
    return sum(
        max((service.ended_at_s or now_s) - service.started_at_s, 0.0)
        * execution.component_of(service).reservation.cores_milli
        / 1000
        for service in execution.services
        if service.started_at_s is not None
    )


def _with_ageing(value: float, execution: Execution, moment: QueueContext) -> SortKey:
    """Halve the value every `ageing_s` of waiting, so that no execution waits forever."""
    # Compared as logarithms: halving is then a subtraction that cannot underflow.
    ageing_s = moment.policy.ageing_s
    halvings = moment.waited_s(execution) / ageing_s if ageing_s > 0 else 0.0
    return (math.log2(max(value, _LEAST_S)) - halvings,)


def _fifo(_execution: Execution, _moment: QueueContext) -> SortKey:
    return ()


def _sjf(execution: Execution, moment: QueueContext) -> SortKey:
    return _with_ageing(moment.run_s(execution), execution, moment)


def _size(execution: Execution, moment: QueueContext) -> SortKey:
    return _with_ageing(size(execution, moment), execution, moment)


def _srpt(execution: Execution, moment: QueueContext) -> SortKey:
    return _with_ageing(moment.remaining_s(execution), execution, moment)


def _hrrn(execution: Execution, moment: QueueContext) -> SortKey:
    run_s = moment.run_s(execution)
    return (-(moment.waited_s(execution) + run_s) / run_s,)


def _las(execution: Execution, moment: QueueContext) -> SortKey:
    return (attained_service(execution, moment.now_s),)


def _psbs(execution: Execution, moment: QueueContext) -> SortKey:
    end_lag_s = moment.virtual.end_lag_s(execution.id)
    if moment.virtual.late(execution.id):
        # They take turns: the one with the least service is next. One that runs far longer than expected then blocks no
        # other.
        return (0.0, attained_service(execution, moment.now_s), end_lag_s)
    return (1.0, end_lag_s, 0.0)


def _edf(execution: Execution, _moment: QueueContext) -> SortKey:
    return (execution.deadline_s if execution.deadline_s is not None else math.inf,)


def _fair_share(execution: Execution, moment: QueueContext) -> SortKey:
    policy = moment.policy
    aged = moment.waited_s(execution) / policy.ageing_s if policy.ageing_s > 0 else 0.0
    return (-(2.0 ** -moment.usage.get(execution.tenant, 0.0) + policy.fair_share_age_weight * aged),)


def wanted_cores(execution: Execution, moment: QueueContext) -> float:
    """Return its share of the cluster, in cores."""
    return dominant_cores(execution.application.total_resources(), moment.capacity) / 1000


def _wfp3(execution: Execution, moment: QueueContext) -> SortKey:
    return (wfp3(moment.waited_s(execution), moment.run_s(execution), wanted_cores(execution, moment)),)


def _unicef(execution: Execution, moment: QueueContext) -> SortKey:
    return unicef(moment.waited_s(execution), moment.run_s(execution), wanted_cores(execution, moment))


def _learned_ratio(execution: Execution, moment: QueueContext) -> SortKey:
    return (learned_ratio(moment.waited_s(execution), moment.run_s(execution)),)


def _by_arrival(score: ByArrival) -> Order:
    def order(execution: Execution, moment: QueueContext) -> SortKey:
        waited_s = moment.waited_s(execution)
        if waited_s >= WINDOW_S:  # otherwise a large one would be passed forever
            return (0.0, -waited_s)
        return (1.0, score(moment.run_s(execution), wanted_cores(execution, moment), arrival_in_window(waited_s)))

    return order


ORDERS: Mapping[str, Order] = {
    "fifo": _fifo,
    "sjf": _sjf,
    "size": _size,
    "srpt": _srpt,
    "hrrn": _hrrn,
    "las": _las,
    "psbs": _psbs,
    "edf": _edf,
    "fair-share": _fair_share,
    "wfp3": _wfp3,
    "unicef": _unicef,
    "f1": _by_arrival(f1),
    "f2": _by_arrival(f2),
    "f3": _by_arrival(f3),
    "f4": _by_arrival(f4),
    "learned-ratio": _learned_ratio,
}

# Orders that use the share of the cluster.
SIZED_ORDERS = frozenset({"size", "wfp3", "unicef", "f1", "f2", "f3", "f4"})

# Orders whose sequence does not change while time passes: more waiting counts the same for all.
STANDING_ORDERS = frozenset({"fifo", "sjf", "size", "srpt", "las", "edf"})
