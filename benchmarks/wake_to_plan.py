"""From the wake-up of the master to its plan, over PostgreSQL: 100 nodes, 1,000 queued executions."""

from __future__ import annotations

import logging
import time
from typing import Any

import structlog

from benchmarks.scheduler_smoke import GIB
from benchmarks.support import machine, repeated, tell, temporary_home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_lib.descriptions import parse
from zoe_lib.domain.application import Application
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.execution import Execution
from zoe_lib.domain.resources import Resources
from zoe_lib.store.migrate import upgrade
from zoe_lib.store.postgres import PostgresStore
from zoe_master.backends.simulated import Behaviour, SimulatedBackend
from zoe_master.master import Master
from zoe_master.steps import Step

NODES = 100
QUEUED = 1000
RUNS = 7


def document(essential: int) -> dict[str, Any]:
    """An application of ten services, of which so many are core."""
    worker = {
        "name": "worker",
        "image": "zoe/tiny",
        "essential_count": essential,
        "total_count": 10,
        "resources": {"memory": "4GiB", "cores": 1},
    }
    return {"version": 4, "name": "bench", "components": [worker]}


class Bench:
    """A master over a full simulated cluster and a real database with a long queue."""

    def __init__(self, url: str) -> None:
        self.store = PostgresStore(url)
        self.store.ensure_member("ada", "default", "admin")
        nodes = [Node(f"node{i:03}", Resources(32_000, 128 * GIB)) for i in range(NODES)]
        self.backend = SimulatedBackend(nodes, time.time, behave=lambda _: Behaviour())
        rigid, elastic = parse(document(10)), parse(document(3))
        self.application = elastic
        epoch = self.store.try_lead("bench")
        assert epoch is not None
        self.planned_s = 0.0
        self.master = Master(self.store, self.backend, epoch, reach=self._reach)
        self.count = 0
        # What fills the cluster is rigid: no core can take room back from it, so the queue stays as long as it is.
        self.submit(NODES * 32 // 10, rigid)
        for _ in range(3):
            self.master.tick()
        self.submit(QUEUED, elastic)
        self.master.tick()

    def submit(self, number: int, application: Application) -> None:
        """Put executions into the database, past the API."""
        for _ in range(number):
            self.count += 1
            execution = Execution(f"e{self.count:06}", "bench", "default", "ada", application, time.time())
            self.store.submit(execution, "bench")

    def _reach(self, step: Step) -> None:
        if step is Step.PLANNED:
            self.planned_s = time.perf_counter()

    def measure(self) -> dict[str, float]:
        """One wake-up after a submission, one with nothing new, one after a cluster's worth was freed."""
        self.submit(1, self.application)
        one_new = self._tick()
        nothing = self._tick()
        return {"one new submission: wake-up to plan ms": one_new, "nothing new: wake-up to plan ms": nothing}

    def _tick(self) -> float:
        began_s = time.perf_counter()
        self.master.tick()
        return (self.planned_s - began_s) * 1e3


def main() -> None:
    """Measure and print."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(machine())
    with temporary_home() as home:
        postgres = EmbeddedPostgres(home)
        url = postgres.start()
        try:
            upgrade(url)
            bench = Bench(url)
            waiting = len(bench.master.latest.snapshot.queued) if bench.master.latest else 0
            tell(f"{NODES} nodes, {waiting} queued", repeated(bench.measure, RUNS))
            bench.store.close()
        finally:
            postgres.stop()


if __name__ == "__main__":
    main()
