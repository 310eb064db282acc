"""Engines and managers that go while executions are submitted: none fails for good, and none is charged for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.swarm import need_swarm
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import Installation, needs_time
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_master.backends.engine.spec.naming import labels

EXECUTIONS = 16
AWAY_S = 20.0
"""How long an object stays away before it returns: longer than Swarm needs to call a node down."""


def job(number: int) -> dict[str, Any]:
    """A container that ends well after a moment, in the network of its execution."""
    main = {
        "name": "main",
        "image": "zoe/tiny",
        "command": ["sleep", "1"],
        "resources": {"memory": "32MiB", "cores": 0.1},
        "ends_application": True,
        "stop_grace_s": 1,
    }
    return {"version": 4, "name": f"job-{number}", "components": [main]}


def drive(installation: Installation, until_s: float) -> None:
    """Tick as the master's loop does."""
    while time.monotonic() < until_s:
        installation.master.tick()
        installation.harness.waker.wait(0.1)


def submit_while(installation: Installation, away: Any, back: Any) -> Sequence[Execution]:
    """Submit some, remove an engine, submit the rest, let it return; return the results of all."""
    installation.store.set_policy(Policy(retry_backoff_s=0.5), 0, time.time(), "test")
    ids = [installation.submit(job(number)) for number in range(EXECUTIONS // 2)]
    drive(installation, time.monotonic() + 0.5)
    away()
    ids += [installation.submit(job(number)) for number in range(EXECUTIONS // 2, EXECUTIONS)]
    drive(installation, time.monotonic() + AWAY_S)
    back()
    end_s = time.monotonic() + 90
    while not all(installation.store.execution(id_).terminal for id_ in ids):
        assert time.monotonic() < end_s, [installation.story(installation.store.execution(id_)) for id_ in ids]
        installation.master.tick()
        installation.harness.waker.wait(0.1)
    return [installation.store.execution(id_) for id_ in ids]


def check(installation: Installation, executions: Sequence[Execution]) -> None:
    for host in installation.harness.cluster.hosts:  # an engine that was killed leaves its probe for two minutes
        for probe in host.api.containers(all=True, filters={"label": labels.OF_A_MOMENT}):
            host.api.remove_container(probe["Id"], force=True)
    for execution in executions:
        assert execution.state is ExecutionState.SUCCEEDED, installation.story(execution)
        assert execution.failed_attempts == 0, installation.story(execution)


@pytest.mark.parametrize(
    "way", ["killed", pytest.param("paused", marks=needs_time), pytest.param("unplugged", marks=needs_time)]
)
def test_an_engine_goes_while_executions_are_submitted(
    installation: Installation, swarm: Cluster, engine_3: str, way: str
) -> None:
    host = swarm.host(engine_3)
    away, back = {
        "killed": (host.kill_engine, lambda: swarm.restart_engine(engine_3)),
        "paused": (host.pause_engine, host.resume_engine),
        "unplugged": (host.unplug, host.plug),
    }[way]
    check(installation, submit_while(installation, away, back))


@contextmanager
def trio() -> Iterator[Installation]:
    """An installation on three managers of its own."""
    need_swarm()
    cluster = Cluster(("node-1", "node-2", "node-3"), managers=3)
    try:
        harness = SwarmHarness(cluster)
        made = Installation(harness)
        harness.settings = replace(harness.settings, gateway_image=GATEWAY_IMAGE)
        made.restart_master()
        yield made
        harness.finish()
    finally:
        cluster.remove()


@needs_time
def test_the_managers_lose_their_quorum_while_executions_are_submitted() -> None:
    """Two of three are gone: the third refuses to create anything. Once they are back, everything goes on."""
    with trio() as installation:
        cluster = installation.harness.cluster
        lost = [host.name for host in cluster.managers[1:]]

        def away() -> None:
            for name in lost:
                cluster.host(name).kill_engine()

        def back() -> None:
            for name in lost:
                cluster.restart_engine(name)

        check(installation, submit_while(installation, away, back))
