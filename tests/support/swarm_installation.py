"""A real master with its journal in memory, over the Swarm back-end on the test swarm."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import docker
import pytest

from tests.support.long import LONG
from tests.support.swarm_backend import SwarmHarness
from zoe_embedded.home import Account
from zoe_lib.descriptions import expand, parse
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome, Service
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.base import BackendError, PortAddress
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.loop.master import Master
from zoe_master.loop.secret_values import ExecutionSecrets

DESCRIPTIONS = Path(__file__).resolve().parents[2] / "app_descriptions"
needs_time = pytest.mark.skipif(not LONG, reason="long: it runs in `make test-swarm`")
TENANT = "lab"
OWNER = Account("lab", 5001, 5001)
"""The user of the tenant's services; no image knows it."""


def document(name: str) -> dict[str, Any]:
    """A description of the catalogue."""
    found: dict[str, Any] = json.loads((DESCRIPTIONS / f"{name}.json").read_text())
    return found


class Installation:
    """One tenant with a workspace that every node has at the same path."""

    def __init__(self, harness: SwarmHarness, store: ExecutionStore | None = None) -> None:
        self.harness = harness
        self.workspace = harness.base / "workspaces" / TENANT
        self.workspace.mkdir(parents=True)
        for directory in (harness.base, self.workspace.parent, self.workspace):
            directory.chmod(0o755)
        os.chown(self.workspace, OWNER.uid, OWNER.gid)
        harness.reopen()
        harness.settings = replace(
            harness.settings,
            images=("zoe/*",),
            gateway_image="zoe/gateway",
            publish_ports=False,
            workspaces_dir=self.workspace.parent,
            tenant_users={TENANT: f"{OWNER.uid}:{OWNER.gid}"},
        )
        self.store = store or MemoryStore()
        self.api_url: str | None = None
        """The API's URL for services; a leading master passes it on."""
        self._count = 0
        self.master = self._lead()

    def restart_master(self) -> None:
        """Another master with a back-end of its own takes over."""
        self.store.stop_leading()
        self.harness.reopen()
        self.master = self._lead()

    def put(self, program: str) -> None:
        """A program of the catalogue into the workspace."""
        (self.workspace / program).write_bytes((DESCRIPTIONS / "programs" / program).read_bytes())

    def submit(self, description: dict[str, Any]) -> str:
        """The new execution's id."""
        self._count += 1
        application = parse(_with_java_options(description))
        execution = Execution(f"e{self._count}", application.name, TENANT, "ada", application, time.time())
        return self.store.submit(execution, "test").id

    def cancel(self, execution_id: str) -> None:
        """As the API does for one that runs."""
        event = ev.Stopping(at_s=time.time(), outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
        self.store.append(execution_id, [event], self.store.execution(execution_id).version, None)

    def until(self, execution_id: str, condition: Callable[[Execution], object], deadline_s: float) -> Execution:
        """Tick until it is true of the execution; one that ended otherwise fails with its story."""
        end_s = time.monotonic() + deadline_s
        while not condition(self.store.execution(execution_id)):
            found = self.store.execution(execution_id)
            assert not found.terminal, self.story(found)
            assert time.monotonic() < end_s, f"{self.story(found)}\n{self.harness.story()}"
            self.master.tick()
            self.harness.waker.wait(0.2)
        return self.store.execution(execution_id)

    def run(self, description: dict[str, Any], deadline_s: float) -> Execution:
        """Submit and tick until it has ended."""
        return self.until(self.submit(description), lambda execution: execution.terminal, deadline_s)

    def succeed(self, description: dict[str, Any], deadline_s: float) -> Execution:
        """The same, and successfully."""
        ended = self.run(description, deadline_s)
        assert ended.state is ExecutionState.SUCCEEDED, self.story(ended)
        return ended

    def ready(self, description: dict[str, Any], deadline_s: float) -> Execution:
        """Submit and tick until its core is ready."""
        submitted = self.submit(description)
        return self.until(submitted, lambda execution: execution.state is ExecutionState.RUNNING, deadline_s)

    def end(self, execution_id: str) -> Execution:
        """Cancel and tick until it has ended."""
        self.cancel(execution_id)
        return self.until(execution_id, lambda execution: execution.terminal, 60)

    def address(self, execution: Execution, component: str, port: str) -> PortAddress:
        """Return the address at which the gateway forwards a request with these headers to a proxied port."""
        service = service_of(execution, component)
        found: list[PortAddress] = []

        def there() -> bool:
            self.master.tick()
            with contextlib.suppress(BackendError, OSError):
                at = self.harness.backend.address(service.id, port)
                with closing(HTTPConnection(at.host, at.port, timeout=10)) as connection:
                    connection.request("GET", "/", headers=dict(at.headers))
                    if connection.getresponse().status < 500:
                        found.append(at)
            return bool(found)

        self.harness.until(there)
        return found[0]

    def output(self, execution: Execution, component: str) -> str:
        """Return the output of the component's first service."""
        return self.harness.output(service_of(execution, component).id)

    def containers(self, execution: Execution) -> dict[str, list[dict[str, Any]]]:
        """Return, by node, the engine's report on each running container of the execution."""
        found: dict[str, list[dict[str, Any]]] = {}
        for host in (host for host in self.harness.cluster.hosts if host.engine_runs):
            wanted = [f"{labels.EXECUTION}={execution.id}", labels.SERVICES]  # its gateway is no service
            mine = host.api.containers(filters={"label": wanted})
            try:
                found[host.name] = [host.api.inspect_container(entry["Id"]) for entry in mine]
            except docker.errors.NotFound:
                found[host.name] = []  # it ended just now
        return {node: containers for node, containers in found.items() if containers}

    def story(self, execution: Execution) -> str:
        """Return states, and the end of the output of each started service."""
        told = [f"{execution.state} {execution.message}"]
        for service in (service for service in execution.services if service.node is not None):
            told.append(f"--- {service.name} on {service.node} {service.cause} {service.message}")
            if service.started_at_s is not None:
                told.append(self.harness.output(service.id)[-3000:])
        return "\n".join(told)

    def _lead(self) -> Master:
        epoch = self.store.try_lead("test")
        assert epoch is not None
        secrets = ExecutionSecrets(None, self.harness.base, self.api_url)
        return Master(self.store, self.harness.backend, epoch, secret_values=secrets)


def _with_java_options(description: dict[str, Any]) -> dict[str, Any]:
    """The same, with this process's options for every Java process."""
    whole = expand(description)
    for component in whole["components"]:
        component.setdefault("environment", {}).setdefault("JDK_JAVA_OPTIONS", os.environ["JDK_JAVA_OPTIONS"])
    return whole


def service_of(execution: Execution, component: str) -> Service:
    """The component's first service."""
    return next(service for service in execution.services if service.component == component)
