"""Time one pass over 100 nodes and 320 queued executions of 3 core + 7 elastic services, which fit exactly."""

from __future__ import annotations

import argparse
import time

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Queued, Submitted
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

GIB = 2**30


def snapshot(nodes: int, executions: int, core: int, elastic: int) -> Snapshot:
    """Return nodes of 32 cores and 128 GiB, and queued executions of services of 1 core and 4 GiB."""
    cluster = tuple(Node(f"node{i:05}", Resources(32_000, 128 * GIB)) for i in range(nodes))
    worker = Component("worker", "zoe/tiny", Resources(1000, 4 * GIB), essential_count=core, total_count=core + elastic)
    application = Application("bench", (worker,))
    return Snapshot(now_s=1.0, nodes=cluster, queued=tuple(queued_execution(i, application) for i in range(executions)))


def queued_execution(number: int, application: Application) -> Execution:
    """Return a waiting execution; a higher number came later."""
    fresh = Execution(f"e{number:06}", "bench", "default", "ada", application, submitted_at_s=float(number) / 1e6)
    return apply(apply(fresh, Submitted(at_s=fresh.submitted_at_s)), Queued(at_s=1.0))


def main() -> None:
    """Time the pass; the last line is for programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--executions", type=int, default=320)
    arguments = parser.parse_args()
    picture = snapshot(arguments.nodes, arguments.executions, core=3, elastic=7)
    began_s = time.process_time()
    plan = schedule(picture, Policy())
    cpu_s = time.process_time() - began_s
    print(f"{len(plan.starts)} of {arguments.executions} executions start, {len(plan.reasons)} wait")
    print(f"placements={plan.placements} cpu_s={cpu_s:.3f}")


if __name__ == "__main__":
    main()
