"""A Swarm back-end on the test swarm, and components for it."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.contract.backend_harnesses import Act
from tests.local.support import MIB, component, probe, shell, start_of, wait_until
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from zoe_lib.domain.applications.application import Component, Port
from zoe_lib.domain.executions.execution import ServiceId
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import Observation, ObservedState, PeerService, ServiceStart
from zoe_master.backends.swarm import SwarmBackend, SwarmSettings
from zoe_master.waker import TickWaker

DEADLINE_S = 120.0
GONE = (ObservedState.ENDED, ObservedState.LOST)


class SwarmHarness:
    """The harness of the Backend contract, and of tests of this back-end alone."""

    def __init__(self, cluster: Cluster, **changes: object) -> None:
        self.cluster = cluster
        self.base = Path(tempfile.mkdtemp(prefix="zoe-swarm-backend-"))
        self.waker = TickWaker()
        settings = SwarmSettings(
            state_dir=self.base / "state",
            managers=tuple(f"tcp://{host.address}:2376" for host in cluster.managers),
            tls_dir=cluster.certificates,
            images=("shell", "python"),
            user="65534:65534",
            gateway_image=GATEWAY_IMAGE,
            allow_unhardened=True,  # it is tried where it matters; here it would cost a container for each back-end
            check_closed=False,  # the same
            publish_ports=True,
            sample_interval_s=1.0,
            busy_look_interval_s=0.1,
            look_interval_s=1.0,
            engine_retry_s=0.2,
            engine_timeout_s=5.0,
        )
        self.settings = replace(settings, **changes)  # type: ignore[arg-type]
        self.before = self.things()
        self._backend: SwarmBackend | None = None

    @property
    def backend(self) -> SwarmBackend:
        if self._backend is None:
            self._backend = SwarmBackend(self.settings, self.waker)
        return self._backend

    def start_of(self, act: Act, service: str) -> ServiceStart:
        made = ACTS[act]()
        small = replace(made.reservation, cores_milli=50)  # many of them have room on one node
        return start_of(replace(made, reservation=small, cores_limit_milli=500), service)

    def start(self, made: Component, service: ServiceId = "e.c.0.1", node: str = "node-1", **changes: object) -> str:
        self.backend.start(start_of(made, service, node, **changes))
        return service

    def until(self, condition: Callable[[], object], deadline_s: float = DEADLINE_S) -> None:
        wait_until(condition, self.waker, deadline_s, self.story)

    def seen(self, service: ServiceId) -> Observation | None:
        return next((o for o in self.backend.observe() if o.service_id == service), None)

    def reach(self, service: ServiceId, *states: ObservedState) -> Observation:
        def there() -> bool:
            found = self.seen(service)
            return found is not None and found.state in states

        self.until(there)
        found = self.seen(service)
        assert found is not None
        return found

    def output(self, service: ServiceId) -> str:
        return self.backend.logs(service, 0, 10**6).data.decode()

    def reopen(self) -> None:
        if self._backend is not None:
            self._backend.close()
            self._backend = None
            gc.collect()  # a connection that was left open is a warning here, in the test that left it

    def finish(self) -> None:
        """End everything, forget it, and check that no trace is left on the swarm."""
        try:
            self.backend.stop([o.service_id for o in self.backend.observe()])
            self.until(lambda: all(o.state in GONE for o in self.backend.observe()))
            self.backend.forget([o.service_id for o in self.backend.observe()])
            wait_until(lambda: not next(self._each_left(), None), self.waker, DEADLINE_S, lambda: str(self.left()))
        finally:
            self.reopen()
            shutil.rmtree(self.base)

    def left(self) -> dict[str, list[str]]:
        """Return new objects; those of an earlier test may vanish meanwhile."""
        return dict(self._each_left())

    def _each_left(self) -> Iterator[tuple[str, list[str]]]:
        for kind, look in self._looks():
            more = sorted(set(look()) - set(self.before[kind]))
            if more:
                yield kind, more

    def things(self) -> dict[str, list[str]]:
        """Return all possible remains: of the swarm, and of each engine."""
        return {kind: sorted(look()) for kind, look in self._looks()}

    def _looks(self) -> Iterator[tuple[str, Callable[[], list[str]]]]:
        """By kind, the last ones first: a wait for all polls one kind until it is gone."""
        api: Any = self.cluster.manager.api
        yield "networks", lambda: [network["Name"] for network in api.networks(filters={"scope": "swarm"})]
        yield "services", lambda: [service["Spec"]["Name"] for service in api.services()]
        yield "secrets", lambda: [secret["Spec"]["Name"] for secret in api.secrets()]
        for host in self.cluster.hosts:
            yield f"containers of {host.name}", partial(_containers, host.api)
            yield f"volumes of {host.name}", partial(_volumes, host.api)

    def story(self) -> str:
        tasks: Any = self.cluster.manager.api
        states = [(t["Status"]["State"], t["Status"].get("Err"), t["DesiredState"]) for t in tasks.tasks()]
        return f"{self.backend.observe()}; tasks: {states}"


def _containers(api: Any) -> list[str]:
    return [name for entry in api.containers(all=True) for name in entry["Names"]]


def _volumes(api: Any) -> list[str]:
    return [volume["Name"] for volume in api.volumes()["Volumes"] or []]


def small(script: str, **changes: object) -> Component:
    """A shell that many of have room on one node."""
    return shell(script, **{"reservation": Resources(50, 32 * MIB), "cores_limit_milli": 500, **changes})


def peers(*services: ServiceId, node: str = "node-1") -> tuple[PeerService, ...]:
    """These services as each other's peers; an id is execution.component.index.attempt."""
    parts = [(service, *service.split(".")[1:3]) for service in services]
    return tuple(PeerService(service, name, int(index), node) for service, name, index in parts)


def server(**changes: object) -> Component:
    """Listens on its port `main` and answers nothing; ends by SIGTERM."""
    ports = (Port("main", 8080),)
    return shell("exec httpd -f -p {port:main}", ports=ports, readiness=probe(), **changes)


def port_taken() -> Component:
    pytest.skip("not here: a container has its ports to itself")


ACTS: dict[Act, Callable[[], Component]] = {
    Act.RUNS: lambda: shell("exec sleep 1000"),
    Act.EXITS_7: lambda: shell("exit 7"),
    Act.PRINTS: lambda: shell("echo 0123456789"),
    Act.SERVES: server,
    Act.NEVER_READY: lambda: shell("exec sleep 1000", ports=(Port("main", 80),), readiness=probe(timeout_s=0.3)),
    Act.IGNORES_TERMINATE: lambda: shell("trap '' TERM; echo up; while :; do sleep 1; done", stop_grace_s=0.3),
    Act.USES_TOO_MUCH_MEMORY: lambda: shell("tail /dev/zero", reservation=Resources(500, 32 * 2**20)),
    Act.FINDS_PORT_TAKEN: port_taken,
    Act.HAS_NO_IMAGE: lambda: component("nothing", ("true",)),
}
