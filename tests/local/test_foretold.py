"""The simulator foretells the real master: the same executions start in the same order, and at the same times."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.local.support import ANN, MIB, LocalWorld, component_python
from tests.simulation.world import World
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.base import SystemUser
from zoe_master.backends.local import LocalNode
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.master import Master
from zoe_master.loop.system_users import SystemUsers

SEED, EXECUTIONS = 7, 200
NODES = {"node-1": 16, "node-2": 8}
POLICY = Policy(order="size", backfill="none")
TOLERANCE_S, TOLERANCE = 0.5, 0.05
# It counts from the hand-over, so that what its supervisor takes to begin does not add up over all executions.
_PROGRAM = "import os, sys, time; time.sleep(max(os.stat('.').st_ctime + float(sys.argv[1]) - time.time(), 0))"


@dataclass(frozen=True)
class Job:
    """An execution: its cores, and how long it sleeps."""

    name: str
    cores: int
    run_s: float

    def execution(self, began_s: float) -> Execution:
        command = (component_python(), "-I", "-S", "-c", _PROGRAM, str(self.run_s))
        component = Component("c", "python", Resources(1000 * self.cores, 64 * MIB), command=command)
        application = Application("sleep", (component,), expected_run_s=self.run_s)
        return Execution(self.name, "sleep", "default", "ada", application, began_s)


def jobs() -> Sequence[Job]:
    """Return executions of which the smallest start first, whatever the others take."""
    chance = random.Random(SEED)
    return [Job(f"e{number:03}", chance.randint(1, 4), chance.uniform(1.0, 4.0)) for number in range(EXECUTIONS)]


def starts_of(store: ExecutionStore, began_s: float) -> Mapping[str, float]:
    """Return when each started, in order."""
    entries = (entry for entry in store.journal(0, 100_000) if entry.kind == "start_planned")
    return {entry.execution_id or "": entry.at_s - began_s for entry in entries}


def foretold(wanted: Sequence[Job], took_s: Mapping[str, float]) -> Mapping[str, float]:
    """Return when the simulator starts each, if it takes this long from its hand-over."""
    nodes = [Node(name, Resources(1000 * cores, 4096 * MIB)) for name, cores in NODES.items()]
    world = World(nodes, lambda start: ServiceBehaviour(run_s=took_s[start.execution_id]))
    world.store.set_policy(POLICY, 0, 0.0, "test")
    began_s = world.clock.now_s()
    for job in wanted:
        world.store.submit(job.execution(began_s), "test")
    world.run(1000.0)
    return starts_of(world.store, began_s)


class OneUser(SystemUsers):
    """All executions run as the same user."""

    def user_for(self, tenant: str, user: str) -> SystemUser:
        return ANN


class RealRun:
    """The production master over the local back-end; the store is in memory."""

    def __init__(self, world: LocalWorld) -> None:
        self.store = MemoryStore()
        self.store.set_policy(POLICY, 0, SYSTEM_CLOCK.now_s(), "test")
        epoch = self.store.try_lead("test")
        assert epoch is not None
        self._world = world
        self._master = Master(self.store, world.backend, epoch, system_users=OneUser())
        self.began_s = 0.0

    def run(self, wanted: Sequence[Job]) -> None:
        self.began_s = SYSTEM_CLOCK.now_s()
        for job in wanted:
            self.store.submit(job.execution(self.began_s), "test")
        while self.store.active():
            if not self._master.tick().is_due_again:
                self._world.waker.wait(1.0)

    def took_s(self) -> Mapping[str, float]:
        """Return how long each held its cores, from its hand-over to its end."""
        ended = (entry.execution_id or "" for entry in self.store.journal(0, 100_000) if entry.kind == "ended")
        found = map(self.store.execution, ended)
        return {one.id: one.marks[Mark.ENDED] - one.marks[Mark.PLACED] for one in found}


def apart(one: Mapping[str, float], other: Mapping[str, float]) -> Sequence[tuple[str, float, float]]:
    """Return the starts that differ by more than half a second and by more than 5 %."""
    return [
        (name, at_s, other[name])
        for name, at_s in one.items()
        if abs(at_s - other[name]) > max(TOLERANCE_S, TOLERANCE * at_s)
    ]


def test_simulated_starts_are_those_of_the_real_master() -> None:
    wanted = jobs()
    world = LocalWorld(nodes=tuple(LocalNode(name, 1000 * cores, 4096 * MIB) for name, cores in NODES.items()))
    try:
        real = RealRun(world)
        real.run(wanted)
    finally:
        world.finish()
    ended = [real.store.execution(job.name) for job in wanted]
    assert [(one.id, one.message) for one in ended if one.state is not ExecutionState.SUCCEEDED] == []
    starts, took_s = starts_of(real.store, real.began_s), real.took_s()
    told = foretold(wanted, {job.name: job.run_s for job in wanted})
    assert list(told) == list(starts), "the order of the starts"
    # Times with the durations that this machine gave, however busy it was; by the sleeps alone they are only printed.
    measured = foretold(wanted, took_s)
    assert list(measured) == list(starts)
    assert apart(starts, measured) == []
    print(f"{len(wanted) - len(apart(starts, told))} of {len(wanted)} start in time by the sleeps alone")
