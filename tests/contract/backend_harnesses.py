"""Harnesses with the same acts for every back-end: behaviours of a component, by name, and control of time."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from tests.local.support import LocalWorld, component, probe, python, server, shell, start_of
from zoe_lib.domain.applications.application import Component, Port
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import Backend, ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.waker import TickWaker


class Act(StrEnum):
    """A behaviour of a component."""

    RUNS = "runs"
    EXITS_7 = "exits 7"
    PRINTS = "prints"
    SERVES = "serves"
    NEVER_READY = "never ready"
    IGNORES_TERMINATE = "ignores terminate"
    USES_TOO_MUCH_MEMORY = "uses too much memory"
    FINDS_PORT_TAKEN = "finds its port taken"
    HAS_NO_IMAGE = "has no image"


OUTPUT = b"0123456789\n"


class Harness(Protocol):
    """A back-end with the helpers that its tests need."""

    waker: TickWaker

    @property
    def backend(self) -> Backend: ...

    def start_of(self, act: Act, service: str) -> ServiceStart: ...

    def until(self, condition: Callable[[], object]) -> None: ...

    def reopen(self) -> None: ...

    def finish(self) -> None: ...


class LocalHarness:
    """Real processes."""

    def __init__(self, **changes: object) -> None:
        self.world = LocalWorld(**changes)
        self.waker = self.world.waker
        self._listeners: list[socket.socket] = []

    @property
    def backend(self) -> Backend:
        return self.world.backend

    def start_of(self, act: Act, service: str) -> ServiceStart:
        start = start_of(_LOCAL_ACTS[act](), service)
        if act is Act.FINDS_PORT_TAKEN:
            ports = self.world.backend._layout.ports.allocate(start.execution_id, service, ["main"])
            self._listeners.append(socket.create_server(("127.0.0.1", ports["main"])))
        return start

    def until(self, condition: Callable[[], object]) -> None:
        self.world.until(condition)

    def reopen(self) -> None:
        self.world.close()

    def finish(self) -> None:
        for listener in self._listeners:
            listener.close()
        self.world.finish()


_GREEDY = "import time; kept = []\nwhile True: kept.append(bytearray(b'x' * 2**23)); time.sleep(0.02)"

_LOCAL_ACTS: dict[Act, Callable[[], Component]] = {
    Act.RUNS: lambda: shell("exec sleep 1000"),
    Act.EXITS_7: lambda: shell("exit 7"),
    Act.PRINTS: lambda: shell("echo 0123456789"),
    Act.SERVES: server,
    Act.NEVER_READY: lambda: shell("exec sleep 1000", ports=(Port("main", 80),), readiness=probe(timeout_s=0.3)),
    Act.IGNORES_TERMINATE: lambda: shell("trap '' TERM; echo up; while :; do sleep 1; done", stop_grace_s=0.3),
    Act.USES_TOO_MUCH_MEMORY: lambda: python(_GREEDY, reservation=Resources(500, 48 * 2**20)),
    Act.FINDS_PORT_TAKEN: server,
    Act.HAS_NO_IMAGE: lambda: component("nothing", ("true",)),
}


class SimulatedHarness:
    """Simulated time: to wait is to move the clock to the next change."""

    def __init__(self) -> None:
        self.waker = TickWaker()
        self.clock = SimulatedClock(1000.0)
        nodes = [Node("node-1", Resources(4000, 2**32)), Node("node-2", Resources(4000, 2**32))]
        images = frozenset({"shell", "python"})
        self._backend = SimulatedBackend(nodes, self.clock, self.waker, self._behave, images)

    @property
    def backend(self) -> Backend:
        return self._backend

    def start_of(self, act: Act, service: str) -> ServiceStart:
        local = _LOCAL_ACTS[act]()
        return start_of(replace(local, command=(act,)), service)

    def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            change_s = self._backend.next_change_s()
            assert change_s is not None, "nothing will change any more"
            self.clock.advance(change_s - self.clock.now_s())

    def reopen(self) -> None:
        """Its world has no other place than itself."""

    def finish(self) -> None:
        self._backend.close()

    @staticmethod
    def _behave(start: ServiceStart) -> ServiceBehaviour:
        return _SIMULATED_ACTS[Act(start.component.command[0])]


_SIMULATED_ACTS = {
    Act.RUNS: ServiceBehaviour(start_s=1),
    Act.EXITS_7: ServiceBehaviour(start_s=1, run_s=0, exit_code=7),
    Act.PRINTS: ServiceBehaviour(start_s=1, run_s=1, output=OUTPUT),
    Act.SERVES: ServiceBehaviour(start_s=1, ready_s=1),
    Act.NEVER_READY: ServiceBehaviour(start_s=1, ready_s=math.inf),
    Act.IGNORES_TERMINATE: ServiceBehaviour(start_s=1, stop_s=math.inf, output=b"up\n"),
    Act.USES_TOO_MUCH_MEMORY: ServiceBehaviour(start_s=1, run_s=2, exit_code=137, cause=Cause.OUT_OF_MEMORY),
    Act.FINDS_PORT_TAKEN: ServiceBehaviour(start_s=1, fails=Cause.PORT_TAKEN),
    Act.HAS_NO_IMAGE: ServiceBehaviour(),
}
