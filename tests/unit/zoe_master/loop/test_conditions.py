"""The master lets executions into the queue when their conditions are met, and comes to rest."""

from __future__ import annotations

import random
from collections.abc import Sequence
from graphlib import TopologicalSorter

from tests.support.applications import application, component, execution
from zoe_client.vocabulary import DependencyKind, ExecutionState, Holder
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome
from zoe_lib.domain.values.conditions import Conditions, Dependency
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.memory.state import State
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import StoreLimits
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.waker import TickWaker

OK, FAIL, ANY = DependencyKind.OK, DependencyKind.FAIL, DependencyKind.ANY
GIB = 2**30


class World:
    """A master over a simulated cluster of one large node; executions with a name in `failing` exit with 1."""

    def __init__(self) -> None:
        self.clock = SimulatedClock(1000.0)
        self.store = MemoryStore(StoreLimits(), State())
        self.failing: set[str] = set()
        nodes = (Node("n1", Resources(10**7, 2**60)),)
        self.backend = SimulatedBackend(nodes, self.clock, TickWaker(), self._behave)
        self._executions: dict[str, str] = {}
        self.lead()

    def lead(self) -> None:
        self.store.stop_leading()
        epoch = self.store.try_lead("test")
        assert epoch is not None
        self.master = Master(self.store, self.backend, epoch, clock=self.clock)

    def _behave(self, start: object) -> ServiceBehaviour:
        failing = start.execution_id in self.failing  # type: ignore[attr-defined]
        return ServiceBehaviour(run_s=1.0, exit_code=int(failing))

    def submit(self, number: int, *after: Dependency, **conditions: object) -> Execution:
        wanted = execution(
            number,
            submitted_at_s=self.clock.now_s(),
            application=application(component("main", readiness=None)),
            conditions=Conditions(after=after, **conditions),  # type: ignore[arg-type]
        )
        return self.store.submit(wanted, "request")

    def rest(self, ticks_max: int = 100_000) -> int:
        """Tick until nothing is due any more; return the number of ticks."""
        for number in range(ticks_max):
            tick = self.master.tick()
            if tick.is_due_again:
                continue
            now_s, due_s = self.clock.now_s(), self.master.next_due_s(self.clock.now_s())
            coming = [at_s for at_s in (due_s, self.backend.next_change_s()) if at_s is not None]
            if not coming:
                return number
            self.clock.advance(max(min(coming) - now_s, 0.001))
        raise AssertionError("it does not come to rest")

    def states(self) -> dict[str, ExecutionState]:
        return {
            execution.id: self.store.execution(execution.id).state
            for execution in self.store._state.executions.values()
        }


def ids(executions: Sequence[Execution]) -> list[str]:
    return [execution.id for execution in executions]


def test_it_runs_after_another_has_ended() -> None:
    world = World()
    first = world.submit(1)
    second = world.submit(2, Dependency(OK, first.id))
    world.master.tick()
    world.master.tick()
    assert world.store.execution(second.id).state is ExecutionState.SUBMITTED
    world.rest()
    first, second = world.store.execution(first.id), world.store.execution(second.id)
    assert second.state is ExecutionState.SUCCEEDED
    kinds = [entry.kind for entry in world.store.journal(0, 100, execution_id=second.id)]
    assert kinds[:3] == ["submitted", "dependency_ended", "queued"]
    assert second.conditions.after[0].met is True


def test_earlier_end_of_a_dependency_is_looked_up() -> None:
    world = World()
    done = world.submit(1)
    world.rest()
    late = world.submit(2, Dependency(OK, done.id), Dependency(ANY, "never-was"))
    bad = world.submit(3, Dependency(FAIL, done.id))
    world.rest()
    states = world.states()
    assert states[late.id] is ExecutionState.SUCCEEDED
    assert states[bad.id] is ExecutionState.FAILED
    assert world.store.execution(bad.id).cause is Cause.DEPENDENCY_FAILED


def test_cancellation_unknown_to_the_master_counts() -> None:
    world = World()
    first = world.submit(1)
    second = world.submit(2, Dependency(FAIL, first.id))
    refused = ev.Refused(at_s=1.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    world.store.append(first.id, [refused], first.version, None)
    world.rest()
    assert world.states()[second.id] is ExecutionState.SUCCEEDED


def test_a_new_leader_goes_on() -> None:
    world = World()
    first = world.submit(1)
    second = world.submit(2, Dependency(OK, first.id))
    held = world.submit(3, held=Holder.USER)
    world.master.tick()
    world.lead()
    world.rest()
    assert world.states()[second.id] is ExecutionState.SUCCEEDED
    world.lead()
    world.store.append(held.id, [ev.Released(at_s=5.0)], world.store.execution(held.id).version, None)
    world.rest()
    assert world.states()[held.id] is ExecutionState.SUCCEEDED


def test_times_come_one_by_one() -> None:
    world = World()
    later = [world.submit(number, begin_at_s=1000.0 + 100 * number) for number in (3, 1, 2)]
    world.rest()
    began = {execution.id: world.store.execution(execution.id).marks["queued"] for execution in later}  # type: ignore[index]
    assert [round(began[execution.id]) for execution in later] == [1300, 1100, 1200]


def test_a_chain_ends_in_few_ticks_when_its_first_link_fails() -> None:
    world = World()
    first = world.submit(1)
    world.failing.add(first.id)
    for number in range(2, 1001):
        world.submit(number, Dependency(OK, f"execution-{number - 1:04}"))
    ticks = world.rest()
    states = list(world.states().values())
    assert states.count(ExecutionState.FAILED) == 1000
    assert ticks < 1000
    assert not world.master.cache.conditional


def test_random_graphs_end_as_an_order_of_their_nodes_says() -> None:
    chance = random.Random(20)
    for _ in range(20):
        world, count = World(), chance.randrange(2, 40)
        after: dict[int, dict[int, DependencyKind]] = {}
        for number in range(1, count + 1):
            others = chance.sample(range(1, number), chance.randrange(0, min(number, 4)))
            after[number] = {other: chance.choice([OK, OK, FAIL, ANY]) for other in others}
            named = [Dependency(kind, f"execution-{other:04}") for other, kind in after[number].items()]
            one = world.submit(number, *named)
            if chance.random() < 0.3:
                world.failing.add(one.id)
            if chance.random() < 0.3:
                world.master.tick()
        world.rest()
        succeeded: dict[int, bool] = {}
        for number in TopologicalSorter({n: list(others) for n, others in after.items()}).static_order():
            runs = all(kind is ANY or succeeded[other] is (kind is OK) for other, kind in after[number].items())
            succeeded[number] = runs and f"execution-{number:04}" not in world.failing
        states = world.states()
        for number, well in succeeded.items():
            wanted = ExecutionState.SUCCEEDED if well else ExecutionState.FAILED
            assert states[f"execution-{number:04}"] is wanted


def test_a_tick_costs_nothing_for_those_that_wait_for_nothing_new() -> None:
    world = World()
    first = world.submit(1)
    for number in range(2, 20_002):
        world.submit(number, Dependency(OK, first.id), held=Holder.USER)
    while world.master.tick().is_due_again:
        pass
    conditional = world.master.cache.conditional
    assert len(conditional) == 20_000
    assert not conditional.has_unfinished
    assert conditional.take_changed(world.clock.now_s(), 10) == []
