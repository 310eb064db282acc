"""The time from the wake-up of the master to its plan, over PostgreSQL: a full cluster and a long queue."""

from __future__ import annotations

import logging
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog

from benchmarks.ranges import Table
from benchmarks.scheduler_smoke import GIB
from benchmarks.support import machine, temporary_home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.descriptions import parse
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.postgres.migrate import upgrade
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend
from zoe_master.loop.master import Master
from zoe_master.loop.tick_recorder import TickRecorder
from zoe_master.state.crash_points import CrashPoint

CASES = ((100, 1000), (1000, 10_000))
RUNS = 5
WRITERS = 8


def document(essential: int, cores: int = 1) -> dict[str, Any]:
    """Return an application of ten services with this many cores, this many of them core."""
    worker = {
        "name": "worker",
        "image": "zoe/tiny",
        "essential_count": essential,
        "total_count": 10,
        "resources": {"memory": f"{4 * cores}GiB", "cores": cores},
    }
    return {"version": 4, "name": "bench", "components": [worker]}


class Bench:
    """A master over a full simulated cluster and a real database with a long queue."""

    def __init__(self, url: str, nodes: int, queued: int) -> None:
        self.store = PostgresStore(url)
        self.store.accounts.ensure_member("ada", "default", "admin")
        cluster = [Node(f"node{i:04}", Resources(32_000, 128 * GIB)) for i in range(nodes)]
        self.backend = SimulatedBackend(cluster, SYSTEM_CLOCK, behave=lambda _: ServiceBehaviour())
        rigid, elastic = parse(document(10, cores=32)), parse(document(3))
        self.application = elastic
        epoch = self.store.try_lead("bench")
        assert epoch is not None
        self.planned_s = 0.0
        self.master = Master(
            self.store, self.backend, epoch, hit=self._hit, tick_recorder=TickRecorder(self.store, epoch)
        )
        self.count = 0
        # The cluster is full of rigid executions: no core can take room back from them, so the queue keeps its length.
        self.submit(nodes // 10, rigid)
        while self.master.tick().plan.starts:  # one tick places a limited number of services
            pass
        for _ in range(2):
            self.master.tick()
        self.submit(queued, elastic)
        self.master.tick()

    def submit(self, number: int, application: Application) -> None:
        """Put executions into the database, bypassing the API."""
        first, self.count = self.count, self.count + number
        names = [f"e{i:06}" for i in range(first, self.count)]
        fresh = [Execution(name, "bench", "default", "ada", application, time.time()) for name in names]
        with ThreadPoolExecutor(WRITERS) as writers:
            list(writers.map(lambda execution: self.store.submit(execution, "bench"), fresh))

    def _hit(self, step: CrashPoint) -> None:
        if step is CrashPoint.PLANNED:
            self.planned_s = time.perf_counter()

    def one_new(self) -> float:
        """Return milliseconds from the wake-up after a submission to the plan."""
        self.submit(1, self.application)
        return self.nothing_new()

    def nothing_new(self) -> float:
        """Return the same with nothing to do."""
        began_s = time.perf_counter()
        self.master.tick()
        return (self.planned_s - began_s) * 1e3


def main() -> int:
    """Print one line for each case; return 1 if one is out of its range."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(machine())
    table = Table("wake")
    for nodes, queued in CASES:
        with temporary_home() as home:
            postgres = EmbeddedPostgres(home)
            url = postgres.start()
            try:
                upgrade(url)
                bench = Bench(url, nodes, queued)
                case = f"{nodes:,} nodes, {queued:,} queued"
                table.row(f"{case}, one new: wake-up to plan ms", [bench.one_new() for _ in range(RUNS)])
                table.row(f"{case}, nothing new: wake-up to plan ms", [bench.nothing_new() for _ in range(RUNS)])
                bench.store.close()
            finally:
                postgres.stop()
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
