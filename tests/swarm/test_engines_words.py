"""Errors of engines contain addresses and Python's exceptions; members see neither, on any route."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.images import provide
from tests.support.people import make_token
from tests.support.serving import Served
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import TENANT, Installation, needs_time
from tests.swarm.cluster import Cluster
from tests.swarm.test_master_faults import sleepers
from zoe_api.main import create_app
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.messaging.client import MasterClient
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.messaging.server import Server
from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.rpc.handlers import RpcHandlers

HIDDEN = re.compile(
    r"10\.213\.|127\.0\.0\.1|localhost|\w+://|dial |host=|\b[A-Za-z.]*(?:Error|Exception|Timeout|Pool)\b"
)
STATIC = {"/api/v1/catalogue", "/api/v1/schema"}
STREAMS = ("/api/v1/events", "/logs/stream")  # the first is asked by itself; the other has only what containers print


@pytest.fixture
def installation(swarm: Cluster, harness: SwarmHarness, store: PostgresStore) -> Installation:
    """As elsewhere, with accounts."""
    provide(swarm, "zoe/gateway")
    return Installation(harness, store)


class Asked:
    """The whole of the API over one installation, as a member and as an operator see it."""

    def __init__(self, installation: Installation, directory: Path) -> None:
        store = installation.store
        assert isinstance(store, PostgresStore)
        ensure_keys(directory)
        endpoint = f"ipc://{directory}/master"
        settings = Settings(keys_dir=directory, master_endpoint=endpoint, backend="swarm")
        master, harness = installation.master, installation.harness
        answers = RpcHandlers(master, harness.backend, harness.waker, "test", 1)
        self._server = Server(endpoint, directory, answers.handlers(), answers.slow())
        self._client = MasterClient(endpoint, directory, 2.0, 2)
        self.app = create_app(settings, store, self._client)
        self._served = Served(self.app)
        self.tokens = {
            "user": make_token(store, "the-user", TENANT),
            "operator": make_token(store, "the-operator", TENANT, "operator", ("read", "operate")),
        }

    def close(self) -> None:
        self._served.close()
        self._client.close()
        self._server.close()

    def answers(self, role: str, execution: Execution) -> dict[str, str]:
        """Yield every GET route of the API with its response; those of an execution for this one."""
        said = {}
        headers = {"Authorization": f"Bearer {self.tokens[role]}"}
        service = execution.services[-1]
        names = {"execution_id": execution.id, "service_id": service.id, "service": service.name, "port": "rpc"}
        with httpx.Client(base_url=self._served.url, headers=headers, timeout=20, trust_env=False) as http:
            for path, methods in self.app.openapi()["paths"].items():
                if "get" not in methods or path in STATIC or path.endswith(STREAMS):
                    continue
                url = re.sub(r"{(\w+)}", lambda part: names.get(part[1], "main"), path)
                said[url] = http.get(url).text
            with http.stream("GET", f"/api/v1/events?execution_id={execution.id}&after=0", timeout=1.0) as stream:
                said["stream"] = _read(stream)
        return said


def _read(stream: httpx.Response) -> str:
    """What a stream says at first: all that there is of the journal comes at once."""
    text = ""
    with suppress(httpx.ReadTimeout):
        for piece in stream.iter_text():
            text += piece
    return text


@pytest.fixture
def asked(installation: Installation, tmp_path: Path) -> Iterator[Callable[[], Asked]]:
    made: list[Asked] = []

    def ask() -> Asked:
        made.append(Asked(installation, tmp_path))
        return made[-1]

    yield ask
    for asked in made:
        asked.close()


@contextmanager
def killed(swarm: Cluster) -> Iterator[None]:
    swarm.host("node-3").kill_engine()
    yield


@contextmanager
def unplugged(swarm: Cluster) -> Iterator[None]:
    swarm.host("node-3").unplug()
    try:
        yield
    finally:
        swarm.host("node-3").plug()


@contextmanager
def paused(swarm: Cluster) -> Iterator[None]:
    swarm.host("node-3").pause_engine()
    try:
        yield
    finally:
        swarm.host("node-3").resume_engine()


def with_volume(installation: Installation) -> dict[str, Any]:
    """Before it starts, its node is asked about a host path."""
    allowed = installation.workspace.parent.parent / "allowed"
    (allowed / "inner").mkdir(parents=True, exist_ok=True)
    harness = installation.harness
    harness.settings = replace(harness.settings, host_paths_allowed=(allowed,))
    installation.restart_master()
    return sleepers("held", 3, volumes=[{"host_path": str(allowed / "inner"), "target": "/seen"}])


def held(answers: dict[str, str]) -> dict[str, list[str]]:
    return {path: found for path, text in answers.items() if (found := HIDDEN.findall(text))}


@pytest.mark.parametrize("way", [pytest.param(way, marks=needs_time) for way in (killed, unplugged, paused)])
def test_engines_that_do_not_answer(
    installation: Installation, swarm: Cluster, engine_3: str, asked: Callable[[], Asked], way: Any
) -> None:
    """One waits for the node, one was to start there, one ran there."""
    description = with_volume(installation)
    running = installation.ready(sleepers("before", 3), 60)
    every = asked()
    with way(swarm):
        starting = installation.submit(description)
        end_s = time.monotonic() + 25
        while time.monotonic() < end_s and not seen_to_fail(installation, running.id, starting, engine_3):
            installation.master.tick()
            installation.harness.waker.wait(0.2)
        waiting = installation.submit(sleepers("waiting", 3, labels={}, resources={"memory": "32MiB", "cores": 1.5}))
        installation.master.tick()
        told: dict[str, Any] = {}
        for execution_id in (running.id, starting, waiting):
            execution = installation.store.execution(execution_id)
            assert held(every.answers("user", execution)) == {}, execution
            told |= {f"{execution_id}{path}": text for path, text in every.answers("operator", execution).items()}
        assert held(told), "operators see the whole text"
    for execution_id in (running.id, starting, waiting):
        if installation.store.execution(execution_id).state in (ExecutionState.STARTING, ExecutionState.RUNNING):
            installation.cancel(execution_id)
    installation.master.tick()


def seen_to_fail(installation: Installation, running: str, starting: str, node: str) -> bool:
    """Return whether the node is known to be away, and the pending start has met it."""
    away = not next(entry for entry in installation.harness.backend.nodes() if entry.name == node).ready
    services = installation.store.execution(starting).services
    return away and any(service.message for service in services)
