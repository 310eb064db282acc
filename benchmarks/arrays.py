"""Cost of arrays: a million waiting indices in a tick, and ten thousand over the API.

`python -m benchmarks.arrays [ARRAYS [INDICES]]`: a real master over a store in memory; 100 arrays of 10,000 indices.
`python -m benchmarks.arrays --api`: accept and list 10,000 indices by an open connection; API and PostgreSQL on
loopback.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator

import psutil
import structlog

from benchmarks.support import machine, percentile
from zoe_client.vocabulary import ExecutionState
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.waker import TickWaker

ARRAYS, INDICES, RUNS, TICKS = 100, 10_000, 5, 200
GIB, MIB = 2**30, 2**20
# Ten services of arrays run at a time, and room is left for small ones only.
ROOM = Node("n1", Resources(20_500, 2**40))
LARGE, SMALL = Resources(2000, MIB), Resources(10, MIB)
RUN_S = 1.0


class Bench:
    """A master whose cluster is full of executions of arrays."""

    def __init__(self) -> None:
        self.clock, self.store, self.count = SimulatedClock(1000.0), MemoryStore(), 0
        self.backend = SimulatedBackend([ROOM], self.clock, TickWaker(), lambda _: ServiceBehaviour(run_s=RUN_S))
        self.large = Application("sweep", (Component("main", "zoe/tiny", LARGE),))
        self.small = Application("small", (Component("main", "zoe/tiny", SMALL),))

    def submit_array(self, indices: int) -> None:
        """Submit an array."""
        self.count += 1
        numbers, _ = parse_array(f"0-{indices - 1}", indices)
        name = f"a{self.count:014}"
        self.store.submit_array(
            Array(name, "sweep", "t", f"u{self.count}", self.large, self.clock.now_s(), numbers), "bench"
        )

    def submit(self) -> str:
        """Submit a small execution."""
        self.count += 1
        return self.store.submit(
            Execution(f"x{self.count}", "small", "t", "u", self.small, self.clock.now_s()), "bench"
        ).id

    def lead(self) -> Master:
        """Return a master with an empty cache."""
        epoch = self.store.try_lead("bench")
        assert epoch is not None
        return Master(self.store, self.backend, epoch, clock=self.clock)


def main() -> int:
    """Measure, and print the figures."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    print(machine())
    if sys.argv[1:] == ["--api"]:
        from benchmarks.arrays_api import measure

        return measure(INDICES)
    arrays, indices = (*map(int, sys.argv[1:3]), *(ARRAYS, INDICES)[len(sys.argv) - 1 :])
    bench = Bench()
    began_s = time.perf_counter()
    for _ in range(arrays):
        bench.submit_array(indices)
    master = bench.lead()
    print(f"{arrays * indices:,} indices in {arrays} arrays, submitted in {time.perf_counter() - began_s:.1f} s")
    first: list[float] = []
    while not first or (master.latest is not None and master.latest.is_due_again):
        first.append(_tick_seconds(master))
    print(f"read, and the queue filled: {len(first)} ticks, {sum(first):.2f} s, the longest {max(first) * 1e3:.0f} ms")
    print(f"memory of the process, store included: {psutil.Process().memory_info().rss / GIB:.2f} GiB")
    for run in range(RUNS):
        found = list(_ticks(master, bench))
        times, started = [value for value, _ in found], [value for _, value in found]
        print(f"run {run + 1}: {TICKS} ticks with one submission and {int(ROOM.total.cores_milli / LARGE.cores_milli)} "
              f"ends: p50 {percentile(times, 0.5) * 1e3:.1f} ms, p99 {percentile(times, 0.99) * 1e3:.1f} ms; "
              f"a fresh small execution is running after at most {max(started):.2f} s of ticks")  # fmt: skip
    return 0


def _ticks(master: Master, bench: Bench) -> Iterator[tuple[float, float]]:
    """Yield the time of each tick, and of all ticks until the execution submitted before it runs."""
    for _ in range(TICKS):
        fresh, spent_s, first_s = bench.submit(), 0.0, 0.0
        while bench.store.execution(fresh).state is not ExecutionState.RUNNING:
            took_s = _tick_seconds(master)
            spent_s, first_s = spent_s + took_s, max(first_s, took_s)
            bench.clock.advance(0.01)
            if spent_s > 60:
                raise SystemExit("the small execution does not start")
        yield first_s, spent_s
        bench.clock.advance(RUN_S)


def _tick_seconds(master: Master) -> float:
    began_s = time.perf_counter()
    master.tick()
    return time.perf_counter() - began_s


if __name__ == "__main__":
    sys.exit(main())
