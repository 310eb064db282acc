"""Growth of the cost of a pass with the queue, and of a placement with the nodes; draws docs/images/growth.svg.

Each point is the least CPU time of five runs, since everything else on the machine only adds to it.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

from benchmarks.cases import blocked_cluster, placing
from benchmarks.ranges import Table
from benchmarks.support import machine
from zoe_lib.domain.cluster.policy import Policy
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

RUNS = 5
QUEUES = (2500, 5000, 10_000, 20_000, 40_000, 80_000)
NODES = (125, 250, 500, 1000, 2000, 4000, 8000)
FEW, MANY = 1000, 3000
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "growth.svg"


def main() -> int:
    """Measure, draw, and compare the first with the last; return 1 if a figure is out of its range."""
    print(machine())
    passes = [_least_s(blocked_cluster(100, count)) for count in QUEUES]
    placements = [_placement_s(nodes) for nodes in NODES]
    for count, seconds in zip(QUEUES, passes, strict=True):
        print(f"{count:>7,} queued: {seconds * 1e3:8.2f} ms a pass")
    for nodes, seconds in zip(NODES, placements, strict=True):
        print(f"{nodes:>7,} nodes:  {seconds * 1e6:8.2f} us a placement")
    _draw(passes, placements)
    table = Table("growth")
    table.row("CPU time, 8 times the queue", [passes[-1] / passes[-4]])
    table.row("CPU time of a placement, 64 times the nodes", [placements[-1] / placements[0]])
    return table.close()


def _placement_s(nodes: int) -> float:
    """Return the cost of one more placement: the difference of two passes, without what every pass pays for its
    nodes.
    """
    few, many = (_least_s(placing(nodes, 0.0, 1, count)) for count in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def _least_s(picture: Snapshot) -> float:
    policy = Policy()
    seconds = []
    for _ in range(RUNS):
        gc.collect()
        began_s = time.process_time()
        schedule(picture, policy)
        seconds.append(time.process_time() - began_s)
    return min(seconds)


def _draw(passes: list[float], placements: list[float]) -> None:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(QUEUES, [seconds * 1e3 for seconds in passes], marker="o")
    left.set_xlabel("queued executions (nothing fits, 100 nodes)")
    left.set_ylabel("ms of CPU a pass")
    right.semilogx(NODES, [seconds * 1e6 for seconds in placements], marker="o")
    right.set_xlabel("nodes (logarithmic)")
    right.set_ylabel("\N{MICRO SIGN}s of CPU a placement")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    PICTURE.parent.mkdir(exist_ok=True)
    rcParams["svg.hashsalt"] = "growth"  # the same ids in every drawing
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
