"""Cost of a tick with executions that wait for their conditions: a real master over a store in memory.

`python -m benchmarks.conditions [EXECUTIONS]`. Half of them are on hold, the others depend on a running one.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator

import psutil
import structlog

from benchmarks.support import machine, percentile
from zoe_client.vocabulary import Cause, DependencyKind, ExecutionState, Holder, Outcome
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.waker import TickWaker

EXECUTIONS = 1_000_000
RUNS = 5
TICKS = 200
RELEASED = 10_000
GIB = 2**30
ROOM = Node("n1", Resources(10**9, 2**60))


class Bench:
    """A master, and executions under conditions."""

    def __init__(self) -> None:
        self.clock, self.store = SimulatedClock(1000.0), MemoryStore()
        self.backend = SimulatedBackend([ROOM], self.clock, TickWaker(), lambda _: ServiceBehaviour(run_s=1e9))
        self.application = Application("job", (Component("main", "zoe/tiny", Resources(1, 1)),))
        self.count = 0

    def submit(self, conditions: Conditions = NO_CONDITIONS) -> str:
        """Submit one."""
        self.count += 1
        fresh = Execution(
            f"x{self.count}", "job", "t", "u", self.application, self.clock.now_s(), conditions=conditions
        )
        return self.store.submit(fresh, "bench").id

    def lead(self) -> Master:
        """Return a master with a full cache."""
        epoch = self.store.try_lead("bench")
        assert epoch is not None
        master = Master(self.store, self.backend, epoch, clock=self.clock)
        while master.tick().is_due_again:
            pass
        return master


def main() -> int:
    """Measure, and print the figures."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EXECUTIONS
    print(machine())
    bench, began_s = Bench(), time.perf_counter()
    first, second = bench.submit(), bench.submit()
    for number in range(count - RELEASED):
        held = Conditions(held=Holder.USER) if number % 2 else Conditions(after=(Dependency(DependencyKind.OK, first),))
        bench.submit(held)
    for _ in range(RELEASED):
        bench.submit(Conditions(held=Holder.USER, after=(Dependency(DependencyKind.ANY, second),)))
    master = bench.lead()
    print(f"{count:,} executions under conditions, read in {time.perf_counter() - began_s:.0f} s")
    print(f"memory of the process, store included: {psutil.Process().memory_info().rss / GIB:.1f} GiB")
    for run in range(RUNS):
        times = sorted(_ticks(master, bench))
        print(f"run {run + 1}: tick with one submission: p50 {times[len(times) // 2] * 1e3:.2f} ms, "
              f"p99 {percentile(times, 0.99) * 1e3:.2f} ms")  # fmt: skip
    execution = bench.store.execution(second)
    event = ev.Stopping(at_s=bench.clock.now_s(), outcome=Outcome.FAILED, cause=Cause.CANCELLED)
    bench.store.append(second, [event], execution.version, None)
    times = []
    while (
        bench.store.execution(second).state is not ExecutionState.FAILED
        or master.latest is None
        or master.latest.is_due_again
    ):
        times.append(_tick_seconds(master))
        bench.clock.advance(0.01)
    print(f"one ends that {RELEASED:,} run after: {len(times)} ticks, {sum(times):.2f} s in all, "
          f"the longest {max(times) * 1e3:.0f} ms")  # fmt: skip
    return 0


def _ticks(master: Master, bench: Bench) -> Iterator[float]:
    for _ in range(TICKS):
        bench.submit()
        bench.clock.advance(1.0)
        yield _tick_seconds(master)


def _tick_seconds(master: Master) -> float:
    began_s = time.perf_counter()
    master.tick()
    return time.perf_counter() - began_s


if __name__ == "__main__":
    sys.exit(main())
