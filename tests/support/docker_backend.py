"""A back-end on the test engine, with the harness of the Backend contract."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.contract.backend_harnesses import Act
from tests.docker.one_engine import NODE, OneEngine
from tests.local.support import start_of, wait_until
from tests.support.swarm_backend import ACTS, DEADLINE_S, GONE
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import Observation, ObservedState, ServiceStart, SystemUser
from zoe_master.backends.docker.backend import DockerBackend
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.waker import TickWaker

USER = SystemUser(450_001, 450_009)


class DockerHarness:
    """The harness of the Backend contract, and of tests of this back-end alone."""

    def __init__(self, engine: OneEngine, **changes: object) -> None:
        self.engine = engine
        self.base = Path(tempfile.mkdtemp(prefix="zoe-docker-backend-"))
        self.base.chmod(0o711)
        (self.base / "workspaces").mkdir(0o711)
        self.waker = TickWaker()
        settings = DockerSettings(
            state_dir=self.base / "state",
            url=engine.url,
            images=("shell", "python"),
            gateway_image="",
            allow_unhardened=True,
            workspaces_dir=self.base / "workspaces",
            sample_interval_s=1.0,
            busy_look_interval_s=0.1,
            look_interval_s=1.0,
            engine_retry_s=0.2,
            engine_timeout_s=5.0,
        )
        self.settings = replace(settings, **changes)  # type: ignore[arg-type]
        self.before = things(engine)
        self._backend: DockerBackend | None = None

    @property
    def backend(self) -> DockerBackend:
        if self._backend is None:
            self._backend = DockerBackend(self.settings, self.waker)
        return self._backend

    def start_of(self, act: Act, service: str) -> ServiceStart:
        made = ACTS[act]()
        small = replace(made.reservation, cores_milli=50)
        return start_of(replace(made, reservation=small, cores_limit_milli=500), service, NODE, system_user=USER)

    def start(self, made: Component, service: ServiceId = "e.c.0.1", **changes: object) -> str:
        self.backend.start(start_of(made, service, NODE, **{"system_user": USER, **changes}))
        return service

    def until(self, condition: Callable[[], object], deadline_s: float = DEADLINE_S) -> None:
        wait_until(condition, self.waker, deadline_s, lambda: str(self.backend.observe()))

    def seen(self, service: ServiceId) -> Observation | None:
        return next((o for o in self.backend.observe() if o.service_id == service), None)

    def reach(self, service: ServiceId, *states: ObservedState) -> Observation:
        found: list[Observation] = []

        def there() -> bool:
            seen = self.seen(service)
            found[:] = [] if seen is None or seen.state not in states else [seen]
            return bool(found)

        self.until(there)
        return found[0]

    def output(self, service: ServiceId) -> str:
        return self.backend.logs(service, 0, 10**6).data.decode()

    def reopen(self) -> None:
        if self._backend is not None:
            self._backend.close()
            self._backend = None
            gc.collect()  # a connection that was left open is a warning here, in the test that left it

    def finish(self) -> None:
        """End everything, forget it, and check that no trace is left on the engine."""
        try:
            self.backend.stop([o.service_id for o in self.backend.observe()])
            self.until(lambda: all(o.state in GONE for o in self.backend.observe()))
            self.backend.forget([o.service_id for o in self.backend.observe()])
            wait_until(lambda: not self.left(), self.waker, DEADLINE_S, lambda: str(self.left()))
        finally:
            self.reopen()
            shutil.rmtree(self.base)

    def left(self) -> list[str]:
        """Return new objects on the engine."""
        return sorted(set(things(self.engine)) - set(self.before))


def things(engine: OneEngine) -> list[str]:
    """Return all containers, networks and volumes of the engine."""
    api: Any = engine.machine.api
    return [
        *(f"container {name}" for entry in api.containers(all=True) for name in entry["Names"]),
        *(f"network {network['Name']}" for network in api.networks()),
        *(f"volume {volume['Name']}" for volume in api.volumes()["Volumes"] or []),
    ]
