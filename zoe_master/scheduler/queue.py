"""Queue orders by name: who is looked at first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from zoe_lib.domain.execution import Execution, Mark
from zoe_lib.domain.policy import Policy

SortKey = tuple[float | str, ...]
Order = Callable[[Execution, float, Policy], SortKey]

# Taken for an application that declares neither a run time nor a limit: an hour.
_RUN_S_UNKNOWN = 3600.0


def order_queue(queued: Sequence[Execution], now_s: float, policy: Policy) -> list[Execution]:
    """Higher priority first, then the policy's order, then who came first; ties by id."""
    key = ORDERS[policy.order]
    return sorted(queued, key=lambda e: (-e.priority, *key(e, now_s, policy), e.submitted_at_s, e.id))


def size(execution: Execution) -> float:
    """Expected run time in seconds times reserved cores: the area of the execution."""
    application = execution.application
    run_s = application.expected_run_s or application.time_limit_s or _RUN_S_UNKNOWN
    return run_s * max(application.total_resources().cores_milli, 1) / 1000


def _fifo(_execution: Execution, _now_s: float, _policy: Policy) -> SortKey:
    return ()


def _size(execution: Execution, now_s: float, policy: Policy) -> SortKey:
    """Smallest first; every `ageing_s` of waiting halve the size, so that nothing waits for ever."""
    waited_s = max(now_s - execution.marks.get(Mark.QUEUED, execution.submitted_at_s), 0.0)
    # Compared as logarithms: a halving is then a subtraction that cannot underflow.
    halvings = waited_s / policy.ageing_s if policy.ageing_s > 0 else 0.0
    return (math.log2(max(size(execution), 1e-9)) - halvings,)


ORDERS: Mapping[str, Order] = {"fifo": _fifo, "size": _size}
