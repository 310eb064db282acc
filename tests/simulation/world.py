"""A master over the in-memory store and the simulated back-end, with time that is moved by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from storage_bridge.base import StorageController
from tests.support.waiting import until
from zoe_lib.domain.applications.application import Application, ApplicationKind, Component, Probe, ProbeKind
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import (
    ACTIVE_STATES,
    Cause,
    Execution,
    ExecutionState,
    Outcome,
)
from zoe_lib.domain.values.resources import Resources, total
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.attempt_programs import ProgramRunner
from zoe_master.loop.master import Master
from zoe_master.loop.tick import Tick
from zoe_master.state.crash_points import CrashPoint, Hit, never_crash
from zoe_master.storage.reconciler import InlineReconciler, StorageReconciler
from zoe_master.waker import TickWaker

GIB = 2**30


class Crash(Exception):  # noqa: N818 - it is what happens, not an error
    """The master dies here."""


def node(name: str, cores: int = 8, memory_gib: int = 32) -> Node:
    return Node(name, Resources(cores * 1000, memory_gib * GIB))


def component(
    name: str, essential: int, total_count: int, cores: int = 1, memory_gib: int = 1, **more: object
) -> Component:
    return Component(
        name=name,
        image="zoe/tiny",
        reservation=Resources(cores * 1000, memory_gib * GIB),
        essential_count=essential,
        total_count=total_count,
        **more,  # type: ignore[arg-type]
    )


def application(*components: Component, **more: object) -> Application:
    return Application(name="app", components=components, **more)  # type: ignore[arg-type]


class World:
    """Everything outside the master, and the master, which can be killed and replaced."""

    def __init__(
        self,
        nodes: Sequence[Node],
        behave: Callable[[ServiceStart], ServiceBehaviour] = lambda _: ServiceBehaviour(run_s=10.0),
        backend_type: type[SimulatedBackend] = SimulatedBackend,
        images: frozenset[str] | None = None,
        store: ExecutionStore | None = None,
        controller: StorageController | None = None,
        programs: ProgramRunner | None = None,
    ) -> None:
        self.clock = SimulatedClock(1000.0)
        self.store: ExecutionStore = store or MemoryStore()
        self.waker = TickWaker()
        self.backend = backend_type(nodes, self.clock, self.waker, behave=behave, images=images)
        self.hit: Hit = never_crash
        self.controller = controller
        self.programs = programs
        self._count = 0
        self.restart()

    def restart(self) -> None:
        """A new master takes over, as after a kill of the old one."""
        self.store.stop_leading()
        # PostgreSQL gives the lock back when the process of the closed connection has ended.
        epoch = until(lambda: self.store.try_lead("test"))
        assert epoch is not None
        reconciler = self.keeper_of(self.controller) if self.controller is not None else None
        self.master = Master(
            self.store,
            self.backend,
            epoch,
            clock=self.clock,
            hit=self._reach,
            storage=reconciler,
            programs=self.programs,
        )

    def keeper_of(self, controller: StorageController) -> StorageReconciler:
        """What a new master asks the storage controller with."""
        return InlineReconciler(controller, self._reach)

    def _reach(self, step: CrashPoint) -> None:
        self.hit(step)

    def submit(self, app: Application, tenant: str = "default", **more: object) -> str:
        self._count += 1
        execution = Execution(
            id=f"e{self._count:05}",
            name=app.name,
            tenant=tenant,
            user="ada",
            application=app,
            submitted_at_s=self.clock.now_s(),
            **more,  # type: ignore[arg-type]
        )
        return self.store.submit(execution, "test").id

    def cancel(self, execution_id: str) -> None:
        execution = self.get(execution_id)
        if execution.terminal or execution.state is ExecutionState.STOPPING:
            return
        kind = ev.Stopping if execution.state in ACTIVE_STATES else ev.Refused
        event = kind(at_s=self.clock.now_s(), outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
        self.store.append(execution_id, [event], execution.version, None)

    def get(self, execution_id: str) -> Execution:
        return self.store.execution(execution_id)

    def state(self, execution_id: str) -> ExecutionState:
        return self.get(execution_id).state

    def tick(self) -> Tick:
        """One tick; where the master dies, another one takes over and ticks."""
        try:
            return self.master.tick()
        except Crash:
            self.hit = never_crash
            self.restart()
            return self.master.tick()

    def run(self, seconds: float, check: Callable[[World], None] = lambda _: None) -> None:
        """Let time pass, ticking whenever something is due, and checking after each tick."""
        end_s = self.clock.now_s() + seconds
        while True:
            self.tick()
            check(self)
            if self.waker.wait(0):
                continue
            due = [
                d for d in (self.backend.next_change_s(), self.master.next_due_s(self.clock.now_s())) if d is not None
            ]
            next_s = min((d for d in due if d > self.clock.now_s()), default=math.inf)
            if next_s > end_s:
                break
            self.clock.advance(next_s - self.clock.now_s())
        self.clock.advance(max(end_s - self.clock.now_s(), 0.0))
        self.tick()
        check(self)

    def crash_once_at(self, wanted: CrashPoint, occurrence: int = 1) -> None:
        """Let the master die when it reaches a step for the n-th time."""
        left = occurrence

        def hit(step: CrashPoint) -> None:
            nonlocal left
            if step is wanted:
                left -= 1
                if left == 0:
                    raise Crash(step)

        self.hit = hit


def check_invariants(world: World) -> None:
    """Nothing over-committed, essential services all or none, nothing runs that the journal does not want."""
    active = world.store.active()
    capacity = {n.name: n.usable for n in world.backend.nodes()}
    for name, usable in capacity.items():
        held = total(e.component_of(s).reservation for e in active for s in e.services if s.alive and s.node == name)
        assert held.fits_in(usable), f"{name} is over-committed: {held} of {usable}"
    for execution in active:
        if execution.state in (ExecutionState.STARTING, ExecutionState.RUNNING):
            assert all(s.node for s in execution.core_services()), "a started execution without its whole core"
        if execution.state in (ExecutionState.SUBMITTED, ExecutionState.QUEUED):
            assert not any(s.node for s in execution.services if s.alive), "a waiting execution holds a node"
    alive = {s.id for e in active for s in e.services if s.alive}
    running = {o.service_id for o in world.backend.observe() if o.state.value not in ("ended", "lost", "stopping")}
    assert running <= alive, f"left behind: {running - alive}"


def random_application(seed: random.Random) -> Application:
    """Small applications of every shape."""
    parts = []
    for number in range(seed.randint(1, 3)):
        essential = seed.randint(1 if number == 0 else 0, 2)
        elastic = seed.choice([0, 0, 1, 3])
        readiness = Probe(ProbeKind.TCP, "p", timeout_s=30.0) if seed.random() < 0.3 else None
        parts.append(
            component(
                f"c{number}",
                essential,
                max(essential + elastic, 1) if essential + elastic else 1,
                cores=seed.randint(1, 3),
                memory_gib=seed.randint(1, 6),
                startup_order=seed.randint(0, 2),
                readiness=readiness,
                ends_application=number == 0 and essential == 1 and elastic == 0 and seed.random() < 0.5,
            )
        )
    return application(
        *parts,
        kind=seed.choice([ApplicationKind.BATCH, ApplicationKind.INTERACTIVE]),
        retries=seed.choice([0, 0, 1]),
        time_limit_s=seed.choice([None, 60.0]),
    )


def random_behaviour(seed: random.Random) -> ServiceBehaviour:
    """Quick, slow, failing, stubborn services."""
    return ServiceBehaviour(
        start_s=seed.choice([0.0, 0.5, 3.0]),
        ready_s=seed.choice([0.0, 1.0, 40.0]),
        run_s=seed.choice([0.0, 5.0, 20.0, 50.0]),
        exit_code=seed.choice([0, 0, 0, 1]),
        stop_s=seed.choice([0.0, 1.0, 30.0]),
        fails=seed.choice([None] * 12 + [Cause.PORT_TAKEN, Cause.START_FAILED]),
    )
