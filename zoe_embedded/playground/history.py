"""The past of the playground: two weeks of ended executions, by the production master over simulated time.

The master decides and journals as always, into the playground's database; only its back-end and its clock are
simulated. The seed is fixed, so each playground has the same executions, at the same times before its first start.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from zoe_embedded.playground.people import BY_NAME
from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import ExecutionQuery, UsageSample
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master

EXECUTIONS = 300
PAST_S = 14 * 86400.0
"""It ends at the last midnight (UTC), so that times of day are the same in each playground."""
_SEED = "playground"
_MIB = 2**20
_NODES = ("node-1", "node-2")
_NODE = Resources(4000, 8 << 30)
_MAIN, _IMAGE = "main", "zoe/tiny"
_FAILED_SHARE, _OUT_OF_MEMORY_SHARE = 0.07, 0.03
# Run times spread by this; the longest exceed their time limit.
_SIGMA, _LIMIT_TIMES = 0.5, 3.0
_SAMPLES = 12
_DAY_S = 86400.0
_QUIET_S = _DAY_S / 3
"""No submissions this long before the end of the past, so that all have ended by then."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of application: who runs it, its size, and its median run time."""

    name: str
    user: str
    cores_milli: int
    memory_mib: int
    count: int
    run_s: float


KINDS = (
    Kind("survey-stack", "vera", 1000, 1024, 4, 2400.0),
    Kind("light-curves", "edwin", 500, 512, 2, 900.0),
    Kind("orbit-fit", "edwin", 2000, 2048, 1, 1800.0),
    Kind("spectra", "annie", 1000, 768, 1, 600.0),
    Kind("galaxy-classes", "annie", 3000, 4096, 1, 5400.0),
    Kind("nightly-report", "grace", 500, 256, 1, 300.0),
    Kind("basket-model", "grace", 1500, 2048, 2, 3600.0),
    Kind("click-sessions", "tony", 250, 256, 4, 450.0),
    Kind("price-elasticity", "mary", 1000, 1024, 2, 1500.0),
    Kind("churn-training", "mary", 2500, 3072, 1, 7200.0),
)


def fill(store: PostgresStore, now_s: float) -> None:
    """Run the past into an empty store."""
    _Past(store, now_s // _DAY_S * _DAY_S).run()


class _Past:
    def __init__(self, store: PostgresStore, until_s: float) -> None:
        self._random = random.Random(_SEED)
        self._store = store
        self._arrivals = _arrivals(self._random, until_s - PAST_S, until_s - _QUIET_S)
        self._clock = SimulatedClock(self._arrivals[0])
        self._behaviours: dict[str, ServiceBehaviour] = {}
        nodes = [Node(name, _NODE) for name in _NODES]
        self._backend = SimulatedBackend(nodes, self._clock, behave=self._behave)

    def run(self) -> None:
        """Submit every execution at its time, and let all end."""
        epoch = self._store.try_lead("playground")
        assert epoch is not None
        try:
            master = Master(self._store, self._backend, epoch, clock=self._clock)
            for number, at_s in enumerate(self._arrivals):
                self._advance(master, at_s)
                self._store.submit(self._execution(number, at_s), "playground")
            self._advance(master, math.inf)
        finally:
            self._store.stop_leading()
        self._add_usage()

    def _advance(self, master: Master, until_s: float) -> None:
        """Tick at each change up to `until_s`, or until everything has ended."""
        while True:
            tick = master.tick()
            if tick.unfinished or tick.plan.placements or master.cache.backlog.submitted_executions:
                continue
            if any(execution.state is ExecutionState.STOPPING for execution in master.cache.active()):
                continue
            now_s = self._clock.now_s()
            dues = (self._backend.next_change_s(), master.next_due_s(now_s))
            next_s = min((at_s for at_s in dues if at_s is not None), default=math.inf)
            if (stops_s := min(next_s, until_s)) == math.inf:
                return
            self._clock.advance(stops_s - now_s)
            if stops_s == until_s:
                return

    def _behave(self, start: ServiceStart) -> ServiceBehaviour:
        return self._behaviours[start.execution_id]

    def _execution(self, number: int, at_s: float) -> Execution:
        kind = self._random.choice(KINDS)
        execution_id = f"{self._random.getrandbits(48):012x}"
        self._behaviours[execution_id] = _behaviour(self._random, kind)
        application = Application(kind.name, tuple(_components(kind)), time_limit_s=kind.run_s * _LIMIT_TIMES)
        person = BY_NAME[kind.user]
        return Execution(execution_id, f"{kind.name}-{number}", person.tenant, person.name, application, at_s)

    def _add_usage(self) -> None:
        """Store samples of the use of all services."""
        samples = [sample for execution in _all(self._store) for sample in _samples(self._random, execution)]
        self._store.add_usage(samples)


def _arrivals(chance: random.Random, from_s: float, to_s: float) -> list[float]:
    """Return times of submissions in order: most in working hours, some in bursts."""
    times: list[float] = []
    while len(times) < EXECUTIONS:
        at_s = chance.uniform(from_s, to_s)
        works = 8 <= at_s % _DAY_S / 3600 < 18
        if works or chance.random() < 0.25:
            times += [at_s + gap for gap in range(0, 60 * chance.choice((1, 1, 4, 12)), 60)]
    return sorted(times[:EXECUTIONS])


def _components(kind: Kind) -> Iterator[Component]:
    reservation = Resources(kind.cores_milli, kind.memory_mib * _MIB)
    yield Component(_MAIN, _IMAGE, reservation, command=("sh", "-c", f"run {kind.name}"), ends_application=True)
    if kind.count > 1:
        workers = kind.count - 1
        yield Component("worker", _IMAGE, reservation, command=("sh", "-c", "work"), total_count=workers)


def _behaviour(chance: random.Random, kind: Kind) -> ServiceBehaviour:
    run_s = kind.run_s * chance.lognormvariate(0, _SIGMA)
    luck = chance.random()
    if luck < _OUT_OF_MEMORY_SHARE:
        return ServiceBehaviour(run_s=run_s / 2, exit_code=137, cause=Cause.OUT_OF_MEMORY)
    failed = luck < _OUT_OF_MEMORY_SHARE + _FAILED_SHARE
    return ServiceBehaviour(run_s=run_s / 4 if failed else run_s, exit_code=1 if failed else 0)


def _all(store: PostgresStore) -> Iterator[Execution]:
    cursor = None
    while True:
        page = store.executions(ExecutionQuery(limit=100, cursor=cursor))
        yield from page.executions
        cursor = page.next_cursor
        if cursor is None:
            return


def _samples(chance: random.Random, execution: Execution) -> Iterator[UsageSample]:
    reservation = execution.application.components[0].reservation
    share, memory = chance.uniform(0.2, 0.9), chance.uniform(0.3, 0.95)
    for service in execution.services:
        if service.started_at_s is None or service.ended_at_s is None or service.node is None:
            continue
        lasted_s = service.ended_at_s - service.started_at_s
        for number in range(1, _SAMPLES + 1):
            part = number / (_SAMPLES + 1)
            cpu_s = part * lasted_s * reservation.cores_milli / 1000 * share
            used = int(reservation.memory_bytes * memory * min(0.4 + part, 1.0))
            at_s = service.started_at_s + part * lasted_s
            yield UsageSample(execution.id, service.id, service.node, at_s, cpu_s, used)
