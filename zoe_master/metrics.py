"""What the master counts, for Prometheus. Labels are bounded: states, reason codes and node names only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prometheus_client import REGISTRY, Gauge, Histogram, start_http_server

from zoe_lib.domain.execution import Mark
from zoe_lib.domain.reasons import ReasonCode
from zoe_master.backends.base import Usage
from zoe_master.master import Tick

_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 7200, 86400)

LEADER = Gauge("zoe_leader", "1 while this master leads.")
PENDING = Gauge("zoe_pending_executions", "Executions that wait, by reason code.", ["reason"])
OLDEST_PENDING = Gauge("zoe_oldest_pending_seconds", "How long the execution that waits longest has waited.")
ACTIVE = Gauge("zoe_active_executions", "Executions that start, run or stop.", ["state"])
ADMISSION_WAIT = Histogram("zoe_admission_wait_seconds", "From queued to admitted.", buckets=_SECONDS)
TICK = Histogram("zoe_tick_seconds", "Duration of one tick of the master.", buckets=_SECONDS)
PLAN = Histogram("zoe_plan_seconds", "Duration of one pass of the scheduler.", buckets=_SECONDS)
RECONCILE_LAG = Gauge("zoe_reconcile_timestamp_seconds", "When the journal was last compared with the back-end.")
NODE_FREE_CORES = Gauge("zoe_node_usable_cores", "Cores of a node that Zoe may reserve.", ["node"])
NODE_FREE_MEMORY = Gauge("zoe_node_usable_memory_bytes", "Memory of a node that Zoe may reserve.", ["node"])
USED_CPU = Gauge("zoe_used_cpu_seconds", "CPU seconds of the services that run now, by node.", ["node"])
USED_MEMORY = Gauge("zoe_used_memory_bytes", "Memory of the services that run now, by node.", ["node"])


def serve(port: int) -> None:
    """Answer Prometheus on loopback; 0 does not."""
    if port:
        start_http_server(port, addr="127.0.0.1", registry=REGISTRY)


def observe_tick(tick: Tick, tick_s: float) -> None:
    """Count what one tick saw and took."""
    TICK.observe(tick_s)
    PLAN.observe(tick.plan_s)
    snapshot = tick.snapshot
    RECONCILE_LAG.set(snapshot.now_s)
    reasons = Counter(reason.code for reason in tick.plan.reasons.values())
    for code in ReasonCode:
        PENDING.labels(code.value).set(reasons.get(code, 0))
    waiting = [e for e in snapshot.queued if e.id not in tick.plan.starts]
    OLDEST_PENDING.set(max((snapshot.now_s - e.submitted_at_s for e in waiting), default=0.0))
    for execution in snapshot.queued:
        if execution.id in tick.plan.starts:
            ADMISSION_WAIT.observe(max(snapshot.now_s - execution.marks.get(Mark.QUEUED, snapshot.now_s), 0.0))
    states = Counter(e.state.value for e in snapshot.active)
    for state in ("starting", "running", "stopping"):
        ACTIVE.labels(state).set(states.get(state, 0))
    for node in snapshot.nodes:
        NODE_FREE_CORES.labels(node.name).set(node.usable.cores_milli / 1000)
        NODE_FREE_MEMORY.labels(node.name).set(node.usable.memory_bytes)


def observe_usage(usage: Sequence[Usage]) -> None:
    """Sum what runs now, by node."""
    cpu_s: Counter[str] = Counter()
    memory: Counter[str] = Counter()
    for one in usage:
        cpu_s[one.node] += one.cpu_s  # type: ignore[assignment]
        memory[one.node] += one.memory_bytes
    for node in cpu_s:
        USED_CPU.labels(node).set(cpu_s[node])
        USED_MEMORY.labels(node).set(memory[node])
