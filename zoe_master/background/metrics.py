"""The master's metrics for Prometheus. Labels are bounded: states, reason codes and node names only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product

from prometheus_client import REGISTRY, Gauge, Histogram, start_http_server
from prometheus_client import Counter as CounterMetric

from zoe_client.vocabulary import DeadlineCause, Outcome
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.promises import Rates
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.backends.base import Usage
from zoe_master.loop.tick import Tick
from zoe_master.storage.report import BandwidthReport

_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 7200, 86400)
_ACTIVE_STATES = ("starting", "running", "stopping")

LEADER = Gauge("zoe_leader", "1 while this master leads.")
FAILURES = CounterMetric(
    "zoe_master_unexpected_errors_total", "Unexpected errors after which this master gave up the lead and started anew."
)
SCHEDULED = CounterMetric("zoe_scheduled_runs_total", "Runs that this master made for schedules.")
PENDING = Gauge("zoe_pending_executions", "Executions that wait, by reason code.", ["reason"])
OLDEST_PENDING = Gauge("zoe_oldest_pending_seconds", "Time for which the longest-waiting execution has waited.")
ACTIVE = Gauge("zoe_active_executions", "Executions that start, run or stop.", ["state"])
ENDED = CounterMetric("zoe_ended_executions_total", "Executions that ended, by outcome.", ["outcome"])
for _outcome in Outcome:  # from zero on: a series that appears with its first count shows no increase
    ENDED.labels(_outcome.value)
MISSED = CounterMetric("zoe_deadlines_missed_total", "Deadlines that executions missed, by cause.", ["cause"])
for _cause in DeadlineCause:
    MISSED.labels(_cause.value)
ADMISSION_WAIT = Histogram("zoe_admission_wait_seconds", "Time from queued to admitted.", buckets=_SECONDS)
TICK = Histogram("zoe_tick_seconds", "Duration of one tick of the master.", buckets=_SECONDS)
PLAN = Histogram("zoe_plan_seconds", "Duration of one pass of the scheduler.", buckets=_SECONDS)
RECONCILE_LAG = Gauge("zoe_reconcile_lag_seconds", "Time since the journal was last compared with the back-end.")
USABLE_CORES = Gauge("zoe_node_usable_cores", "Cores of a node that Zoe may reserve.", ["node"])
USABLE_MEMORY = Gauge("zoe_node_usable_memory_bytes", "Memory of a node that Zoe may reserve.", ["node"])
USED_CPU = Gauge("zoe_used_cpu_seconds", "CPU seconds of the services that run now, by node.", ["node"])
USED_MEMORY = Gauge("zoe_used_memory_bytes", "Memory of the services that run now, by node.", ["node"])

_DIRECTION, _TENANT = ["direction"], ["tenant", "direction"]

STORAGE_REACHABLE = Gauge("zoe_storage_controller_reachable", "1 while the storage controller answers.")
STORAGE_CIRCUIT_OPEN = Gauge(
    "zoe_storage_controller_resting", "1 while polls are paused after failures (open circuit)."
)
STORAGE_CAPACITY = Gauge(
    "zoe_storage_capacity_bytes_per_second", "Bandwidth that the store can guarantee in total.", _DIRECTION
)
STORAGE_PROMISED = Gauge(
    "zoe_storage_promised_bytes_per_second", "Bandwidth that the store has guaranteed, to all.", _DIRECTION
)
STORAGE_GRANTED = Gauge(
    "zoe_storage_granted_bytes_per_second", "Bandwidth guaranteed to the executions of a tenant.", _TENANT
)
STORAGE_ACHIEVED = Gauge("zoe_storage_achieved_bytes_per_second", "Bandwidth recently used by a tenant.", _TENANT)
STORAGE_MISSED = Gauge(
    "zoe_storage_missed_bytes_per_second", "Guaranteed bandwidth that a tenant wants but does not get.", _TENANT
)
STORAGE_TRANSFERRED = CounterMetric(
    "zoe_storage_transferred_bytes_total",
    "Bytes that executions moved with credentials of their own, counted when these end.",
    _TENANT,
)


_nodes_told: dict[Gauge, frozenset[str]] = defaultdict(frozenset)
_storage_told: dict[Gauge, set[str]] = {gauge: set() for gauge in (STORAGE_GRANTED, STORAGE_ACHIEVED, STORAGE_MISSED)}


class PortTaken(Exception):  # noqa: N818 - the name is the fact
    """The port of the metrics is in use; the message names it."""


def serve(host: str, port: int) -> None:
    """Serve the metrics to Prometheus, unless `port` is 0. Raises PortTaken."""
    if not port:
        return
    try:
        start_http_server(port, addr=host, registry=REGISTRY)
    except OSError as error:
        raise PortTaken(f"cannot serve metrics on port {port}: {error.strerror}") from None


def observe_tick(tick: Tick, tick_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
    """Count the contents and the duration of a tick."""
    TICK.observe(tick_s)
    PLAN.observe(tick.plan_s)
    snapshot = tick.snapshot
    reconciled_at_s = snapshot.now_s
    RECONCILE_LAG.set_function(lambda: clock.now_s() - reconciled_at_s)
    _observe_waiting(tick)
    states = Counter(e.state.value for e in snapshot.active)
    for state in _ACTIVE_STATES:
        ACTIVE.labels(state).set(states.get(state, 0))
    for outcome, count in tick.outcomes.items():
        ENDED.labels(outcome.value).inc(count)
    for cause, count in tick.missed.items():
        MISSED.labels(cause.value).inc(count)
    for (tenant, direction), count in tick.transferred.items():
        STORAGE_TRANSFERRED.labels(tenant, direction).inc(count)
    _set_by_node(USABLE_CORES, {n.name: n.usable.cores_milli / 1000 for n in snapshot.nodes})
    _set_by_node(USABLE_MEMORY, {n.name: n.usable.memory_bytes for n in snapshot.nodes})


def observe_usage(usage: Sequence[Usage]) -> None:
    """Sum the running services by node."""
    cpu_s: dict[str, float] = defaultdict(float)
    memory_bytes: dict[str, float] = defaultdict(float)
    for sample in usage:
        cpu_s[sample.node] += sample.cpu_s
        memory_bytes[sample.node] += sample.memory_bytes
    _set_by_node(USED_CPU, cpu_s)
    _set_by_node(USED_MEMORY, memory_bytes)


def stop_leading() -> None:
    """Remove the series that only the leader knows, once this master no longer leads."""
    LEADER.set(0)
    OLDEST_PENDING.set(0)
    RECONCILE_LAG.set_function(lambda: 0.0)
    for code in ReasonCode:
        PENDING.labels(code.value).set(0)
    for state in _ACTIVE_STATES:
        ACTIVE.labels(state).set(0)
    for gauge in (USABLE_CORES, USABLE_MEMORY, USED_CPU, USED_MEMORY):
        _set_by_node(gauge, {})


def _observe_waiting(tick: Tick) -> None:
    """Count waiting executions without a walk through a long queue."""
    reasons = tick.plan.reasons.counts()
    for code in ReasonCode:
        PENDING.labels(code.value).set(reasons.get(code, 0))
    OLDEST_PENDING.set(tick.oldest_wait_s)
    for waited_s in tick.waited_s:
        ADMISSION_WAIT.observe(waited_s)


def _set_by_node(gauge: Gauge, values: Mapping[str, float]) -> None:
    """Set the value of every node, and remove the series of nodes that are gone."""
    for node in _nodes_told[gauge] - values.keys():
        gauge.remove(node)
    for node, value in values.items():
        gauge.labels(node).set(value)
    _nodes_told[gauge] = frozenset(values)


def observe_storage(report: BandwidthReport | None) -> None:
    """Publish the last observation of storage; None if this master does not lead or has no storage controller."""
    found = report or BandwidthReport()
    STORAGE_REACHABLE.set(report is not None and report.at_s > 0 and not report.problem)
    STORAGE_CIRCUIT_OPEN.set(found.resting)
    for gauge, rates in ((STORAGE_CAPACITY, found.capacity), (STORAGE_PROMISED, found.promised)):
        _set_rates(gauge, (), rates)
    tenants = {name: bandwidth for name, bandwidth in found.tenants.items() if bandwidth.granted != Rates()}
    _publish_rates(STORAGE_GRANTED, {name: bandwidth.granted for name, bandwidth in tenants.items()})
    _publish_rates(STORAGE_ACHIEVED, {name: bandwidth.achieved for name, bandwidth in tenants.items()})
    _publish_rates(STORAGE_MISSED, {name: bandwidth.missed for name, bandwidth in tenants.items()})


def _publish_rates(gauge: Gauge, rates: Mapping[str, Rates | None]) -> None:
    """Set the series of tenants with known rates, and remove all others."""
    known = {name: entry for name, entry in rates.items() if entry is not None}
    for name, direction in product(_storage_told[gauge] - known.keys(), ("read", "write")):
        gauge.remove(name, direction)
    for name, entry in known.items():
        _set_rates(gauge, (name,), entry)
    _storage_told[gauge] = set(known)


def _set_rates(gauge: Gauge, labels: tuple[str, ...], rates: Rates) -> None:
    gauge.labels(*labels, "read").set(rates.read)
    gauge.labels(*labels, "write").set(rates.write)
