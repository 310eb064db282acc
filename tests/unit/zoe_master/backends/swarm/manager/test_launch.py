"""Retries of starts when managers fail, against a server that speaks their HTTP and fails on request."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.local.support import shell, start_of
from zoe_lib.domain.applications.application import Port
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState, ServiceStart
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.files.path_checks import PathChecks
from zoe_master.backends.engine.daemon.files.volume_owners import VolumeOwners
from zoe_master.backends.engine.services.service_files import ServiceFiles
from zoe_master.backends.swarm.facts import NodeFacts
from zoe_master.backends.swarm.manager.infrastructure import AttemptInfrastructure
from zoe_master.backends.swarm.manager.launch import ServiceLauncher
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.waker import TickWaker

PAIR = start_of(shell("true", ports=(Port("web", 8080),)))
"""It gets a network and a secret."""
START = start_of(shell("true"))


class FailingManager(ThreadingHTTPServer):
    """Makes requested objects, but answers with `status` for services.

    With `loses_answers` it makes networks and secrets, and answers like a manager that lost its leader meanwhile.
    """

    status = 201
    loses_answers = False
    lists = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.made: dict[str, list[dict[str, Any]]] = {"networks": [], "secrets": []}
        Thread(target=self.serve_forever, args=(0.05,), name="failing-manager").start()

    @property
    def url(self) -> str:
        return f"tcp://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FailingManager

    def do_GET(self) -> None:
        kind = next((kind for kind in self.server.made if f"/{kind}" in self.path), "")
        self._answer(200, self.server.made[kind] if kind and self.server.lists else [])

    def do_POST(self) -> None:
        wanted = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        kind = next((kind for kind in self.server.made if f"/{kind}/create" in self.path), "")
        if kind:
            self._make(kind, wanted)
            return
        status = self.server.status if "/services/create" in self.path else 201
        made = {"ID": "one", "Id": "one"}
        self._answer(status, made if status == 201 else {"message": "The swarm does not have a leader."})

    def _make(self, kind: str, wanted: dict[str, Any]) -> None:
        there = self.server.made[kind]
        if any(entry["Name"] == wanted["Name"] for entry in there):
            self._answer(409, {"message": f"{wanted['Name']} already exists"})
            return
        there.append({"Id": "one", "ID": "one", "Name": wanted["Name"], "Labels": wanted["Labels"], "Spec": wanted})
        if self.server.loses_answers:
            self._answer(503, {"message": "context deadline exceeded"})
        else:
            self._answer(201, there[-1])

    def _answer(self, status: int, body: Any) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def manager() -> Iterator[FailingManager]:
    with FailingManager() as server:
        yield server
        server.shutdown()


class Launching:
    """A launcher over two addresses of that manager, and its registry."""

    def __init__(self, manager: FailingManager, state_dir: Path) -> None:
        settings = SwarmSettings(state_dir=state_dir, images=("**",), user="65534:65534")
        self.engines = [Engine(manager.url, None, 5.0) for _ in range(2)]
        managers, waker = Managers(self.engines), TickWaker()
        self.registry = TaskRegistry(ServiceFiles(state_dir), waker, lambda _: True)
        watches = EngineWatches(settings, listener=None)  # type: ignore[arg-type]  # no node is watched
        paths = PathChecks(watches, settings, lambda: None)
        self._volumes = VolumeOwners(watches, settings, lambda: None)
        shared = AttemptInfrastructure(managers, settings)
        self._launcher = ServiceLauncher(managers, self.registry, shared, paths, self._volumes, watches, settings)
        self._paths = paths
        self.registry.add(START)

    def launch(self, start: ServiceStart = START) -> list[ServiceStart]:
        node = NodeFacts("id-1", "node-1", "", Resources(2000, 2**30), {}, down=False, available=True, message="")
        return self._launcher.launch([start], {"node-1": node})

    def long_ago(self) -> None:
        record = self.registry.get(START.service_id)
        assert record is not None
        record.created_at_s = time.time() - 3600

    def seen(self) -> tuple[ObservedState, Cause | None, str]:
        record = self.registry.get(START.service_id)
        assert record is not None
        return record.observation.state, record.observation.cause, record.observation.message

    def close(self) -> None:
        self._paths.close()
        self._volumes.close()
        for engine in self.engines:
            engine.close()


@pytest.fixture
def launching(manager: FailingManager, tmp_path: Path) -> Iterator[Launching]:
    made = Launching(manager, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("status", [500, 502, 503])
def test_start_that_all_managers_fail_is_tried_again(
    manager: FailingManager, launching: Launching, status: int
) -> None:
    manager.status = status
    assert launching.launch() == [START]
    state, cause, message = launching.seen()
    assert (state, cause) == (ObservedState.STARTING, None)
    assert message.startswith("no manager of the swarm accepts it; Zoe tries again: ")
    manager.status = 201
    assert launching.launch() == []
    assert launching.seen() == (ObservedState.STARTING, None, "")
    record = launching.registry.get(START.service_id)
    assert record is not None
    assert record.group is not None


def test_start_that_fails_for_long_ends_as_an_engine_fault(manager: FailingManager, launching: Launching) -> None:
    manager.status = 500
    launching.long_ago()
    assert launching.launch() == []
    state, cause, message = launching.seen()
    assert (state, cause) == (ObservedState.ENDED, Cause.ENGINE_FAULT)
    assert "The swarm does not have a leader." in message


def test_managers_that_are_away_are_waited_for(manager: FailingManager, launching: Launching) -> None:
    manager.status = 503
    launching.long_ago()
    assert launching.launch() == [START]


def test_a_refusal_is_final(manager: FailingManager, launching: Launching) -> None:
    manager.status = 400
    assert launching.launch() == []
    assert launching.seen()[:2] == (ObservedState.ENDED, Cause.START_FAILED)


def test_group_made_by_a_lost_answer_is_adopted(manager: FailingManager, launching: Launching) -> None:
    """One manager makes it and loses its leader; the next one gets the same request, and answers that it exists."""
    manager.loses_answers = True
    start = replace(PAIR, service_id="e.c.1.1", index=1)
    launching.registry.add(start)
    assert launching.launch(start) == []
    record = launching.registry.get(start.service_id)
    assert record is not None
    assert record.group is not None, record.observation
    assert [len(there) for there in manager.made.values()] == [1, 1]


def test_existing_but_unlisted_group_is_tried_again(manager: FailingManager, launching: Launching) -> None:
    manager.loses_answers, manager.lists = True, False
    start = replace(PAIR, service_id="e.c.1.1", index=1)
    launching.registry.add(start)
    assert launching.launch(start) == [start]
    manager.lists = True
    assert launching.launch(start) == []
