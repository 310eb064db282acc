"""The pure pass of the scheduler at scale: services placed per second, and the cost of a long queue and of a forecast.

CPU time of one process; medians of five runs and the range, beside the goals of ranges.json. No clock, store, back-end.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks.cases import (
    PLACED,
    arrival,
    as_ranked,
    blocked_cluster,
    half_full,
    mixed_cluster,
    placing,
    queued_as,
    reading,
    room_for_some,
    unlike_cluster,
    with_promises,
)
from benchmarks.ranges import Table
from benchmarks.scheduler_smoke import snapshot
from benchmarks.support import machine, percentile
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import FORECAST_STEPS, PASS_STEPS, SEARCH_STEPS, StepCount
from zoe_master.scheduler.what_if.forecast import wait_of
from zoe_master.scheduler.what_if.proposal import propose

RUNS = 5
UNLIKE = ((1_000, 10_000), (10_000, 50_000))
ENDED = 100
WEIGHERS = {"fewest_containers": -1.0, "free_memory": 1.0, "locality": 1.0, "storage_headroom": 1.0}
LARGEST = {"one component": queued_as(1, 10_000), "1,000 components": queued_as(1_000, 10)}
FILLED = {0.0: "empty", 0.5: "half full", 0.99: "99 % full"}


def main() -> int:
    """Print one line for each case; return 1 if one is out of its range."""
    print(machine())
    table = Table("pass")
    small = snapshot(100, 320, core=3, elastic=7)
    table.row("100 nodes, 320 queued of 3 core + 7 elastic, CPU s", _times(small))
    table.row("1,000 nodes, 80 executions of 10, CPU s", _times(placing(1000, 0.0, 10, 80)))
    for nodes in (1000, 10_000):
        for full, words in FILLED.items():
            for group in (1, 10):
                picture = placing(nodes, full, group, PLACED // group)
                placed = schedule(picture, Policy()).placements
                rates = [placed / seconds for seconds in _times(picture)]
                table.row(f"{nodes:,} nodes {words}, groups of {group}, placements/s", rates)
    for nodes in (1000, 10_000):
        for name, weight in WEIGHERS.items():
            policy = Policy(weighers={name: weight})
            picture = reading(nodes, 0.5, PLACED)
            assert len(schedule(picture, policy).starts) == PLACED
            rates = [PLACED / seconds for seconds in _times(picture, policy)]
            table.row(f"{nodes:,} nodes half full, {name} {weight:g}, placements/s", rates)
    table.row("10,000 nodes, 100,000 queued, nothing fits, CPU s", _times(blocked_cluster(10_000, 100_000)))
    crowded = _times(room_for_some(10_000, 100_000, PLACED), runs=20)
    table.row("10,000 nodes, 100,000 queued, placing 1,000, p99 of 20, CPU s", [percentile(crowded, 0.99)])
    promised = with_promises(room_for_some(10_000, 100_000, PLACED), 1_000)
    table.row("10,000 nodes, 100,000 queued, 1,000 promised, placing 1,000, CPU s", _times(promised))
    queue = mixed_cluster(20, 10_000)
    for backfill in ("none", "easy", "conservative"):
        table.row(f"forecast of the last of 10,000, {backfill}, CPU s", _forecasts(queue, backfill))
    table.row("pass over 10,000 queued by psbs, CPU s", _times(queue, Policy(order="psbs")))
    for what, wanted in LARGEST.items():
        table.row(f"the largest plan, {what}, CPU s", _plans(wanted))
    for nodes, executions in UNLIKE:
        _unlike(table, nodes, executions)
    return table.close()


def _unlike(table: Table, nodes: int, executions: int) -> None:
    """Print the rows of a queue in which each execution has a demand and a run time of its own."""
    picture, what = unlike_cluster(nodes, executions), f"{nodes:,} nodes, {executions:,} unlike queued"
    for order in ("size", "wfp3", "psbs"):
        table.row(f"{what}, nothing starts, {order}, CPU s", _times(picture, Policy(order=order)))
    table.row(f"{what}, conservative, CPU s", _times(picture, Policy(backfill="conservative")))
    late = replace(picture, queued=as_ranked((*picture.queued, arrival(picture, 10**8)), picture.nodes))
    table.row(f"{what}, one more that starts, CPU s", _times(late))
    ended = replace(picture, active=picture.active[ENDED:])
    starts, rest_s = len(schedule(ended, Policy()).starts), percentile(_times(picture), 0.5)
    table.row(
        f"{what}, {ENDED} have ended: ms for each start",
        [(seconds - rest_s) / starts * 1e3 for seconds in _times(ended)],
    )


def _times(picture: Snapshot, policy: Policy | None = None, runs: int = RUNS) -> list[float]:
    wanted = policy or Policy()
    return [_cpu_s(lambda: schedule(picture, wanted)) for _ in range(runs)]


def _forecasts(picture: Snapshot, backfill: str) -> list[float]:
    policy, last = Policy(backfill=backfill), picture.queued[-1].id
    estimates = Estimates({})
    return [_cpu_s(lambda: wait_of(picture, policy, last, estimates)) for _ in range(RUNS)]


def _plans(wanted: Execution) -> list[float]:
    """Measure the computation of a plan for `POST /plan`: 1,000 nodes half full, on which it does not start."""
    picture, policy, estimates = half_full(1_000), Policy(), Estimates({})

    def plan() -> None:
        budget = StepCount()
        too_late, give_up = budget.spent_after(PASS_STEPS), budget.spent_after(SEARCH_STEPS)
        assert not propose(picture, policy, wanted, too_late, give_up).starts_now
        with_it = replace(picture, queued=(wanted,))
        wait_of(with_it, policy, wanted.id, estimates, budget.spent_after(FORECAST_STEPS))

    return [_cpu_s(plan) for _ in range(RUNS)]


def _cpu_s(work: Callable[[], object]) -> float:
    gc.collect()
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


if __name__ == "__main__":
    sys.exit(main())
