"""The pure pass of the scheduler at scale: how many services it places a second, and what a long queue costs.

CPU seconds of one process; medians of five runs and the range. No clock, no store, no back-end.
"""

from __future__ import annotations

import statistics
import time

from benchmarks.scheduler_smoke import GIB, queued
from zoe_lib.domain.application import Application, Component
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.events import Placement, StartPlanned
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.lifecycle import apply
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.resources import Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.snapshot import Snapshot

RUNS = 5
PLACED = 1000


def main() -> None:
    """Print one line for each case."""
    print(f"{'case':<62}{'CPU s':>9}{'range':>18}{'placed/s':>10}")
    _case("1,000 nodes, 80 executions of 10", _placing(1000, 0.0, 10, 80))
    for nodes in (1000, 10_000):
        for full in (0.0, 0.5, 0.99):
            for group in (1, 10):
                label = f"{nodes:,} nodes, {full:.0%} full, groups of {group}"
                _case(label, _placing(nodes, full, group, PLACED // group))
    _case("10,000 nodes, 100,000 queued, nothing fits", _blocked(10_000, 100_000))
    for count in (10_000, 20_000, 40_000, 80_000):
        _case(f"100 nodes, {count:,} queued, nothing fits", _blocked(100, count))


def _case(label: str, snapshot: Snapshot) -> None:
    seconds: list[float] = []
    placed = 0
    for _ in range(RUNS):
        began_s = time.process_time()
        placed = schedule(snapshot, Policy()).placements
        seconds.append(time.process_time() - began_s)
    middle = statistics.median(seconds)
    spread = f"{min(seconds):.3f} to {max(seconds):.3f}"
    rate = f"{placed / middle:,.0f}" if placed else ""
    print(f"{label:<62}{middle:9.3f}{spread:>18}{rate:>10}", flush=True)


def _placing(nodes: int, full: float, group: int, executions: int) -> Snapshot:
    """Nodes of 32 cores, such a share of them taken whole; services of one core and 1 GiB."""
    cluster = _nodes(nodes, 32)
    active = tuple(_running(i, node, 32) for i, node in enumerate(cluster[: round(nodes * full)]))
    service = Component("c", "zoe/tiny", Resources(1000, GIB), essential_count=group, total_count=group)
    return Snapshot(1.0, cluster, _queue(executions, service), active)


def _blocked(nodes: int, executions: int) -> Snapshot:
    """Every node has one core left, and the services want two."""
    cluster = _nodes(nodes, 2)
    active = tuple(_running(i, node, 1) for i, node in enumerate(cluster))
    return Snapshot(1.0, cluster, _queue(executions, Component("c", "zoe/tiny", Resources(2000, GIB))), active)


def _nodes(count: int, cores: int) -> tuple[Node, ...]:
    return tuple(Node(f"node{i:05}", Resources(cores * 1000, 128 * GIB)) for i in range(count))


def _queue(count: int, service: Component) -> tuple[Execution, ...]:
    application = Application("bench", (service,))
    return tuple(queued(i, application) for i in range(count))


def _running(number: int, node: Node, cores: int) -> Execution:
    one = Component("r", "zoe/tiny", Resources(cores * 1000, GIB))
    execution = queued(10**6 + number, Application("bench", (one,)))
    placement = Placement(service_id=execution.services[0].id, node=node.name)
    return apply(execution, StartPlanned(at_s=1.0, placements=(placement,)))


if __name__ == "__main__":
    main()
