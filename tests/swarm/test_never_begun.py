"""A container that an engine made and never began, as one that stood still in between, keeps nothing from its end."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.local.support import start_of
from tests.support.swarm_backend import SwarmHarness, small
from tests.swarm.cluster import Cluster
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.engine.daemon.container_facts import container_facts
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.services.service_files import ServiceFiles
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.swarm.facts import TaskFacts
from zoe_master.backends.swarm.services.task_driver import TaskDriver, inspect_ended
from zoe_master.backends.swarm.services.task_records import ServiceGroup, TaskRecord
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.waker import TickWaker

SERVICE = "e.c.0.1"


@pytest.fixture
def registry(tmp_path: Path) -> TaskRegistry:
    made = TaskRegistry(ServiceFiles(tmp_path), TickWaker(), lambda _: True)
    made.add(start_of(small("true"), SERVICE, "node-1"))
    return made


@pytest.fixture
def engine(swarm: Cluster) -> Iterator[Engine]:
    made = Engine(f"unix://{swarm.host('node-1').socket}", None, 10.0)
    yield made
    made.close()


@pytest.fixture
def unbegun(engine: Engine, registry: TaskRegistry) -> Iterator[TaskRecord]:
    """The record of a service whose container was made, with what its engine says of it."""
    tags = {labels.SERVICES: SERVICE, labels.TASK_NAME: "zoe-c.1.task", labels.TASK_ID: "task"}
    container = engine.api.create_container("shell", ["true"], labels=tags)["Id"]
    facts = container_facts(engine.api.inspect_container(container))
    assert facts is not None
    registry.container_seen(facts, after_gap=True)
    record = registry.get(SERVICE)
    assert record is not None
    yield record
    engine.api.remove_container(container)


def test_it_is_taken_from_the_swarm_once_it_is_to_end(
    harness: SwarmHarness, registry: TaskRegistry, unbegun: TaskRecord
) -> None:
    group = ServiceGroup("group", (SERVICE,))
    registry.set_group([SERVICE], group)
    harness.until(lambda: harness.backend._watches.engine("node-1") is not None)
    with ThreadPoolExecutor(1) as pool:
        driver = TaskDriver(registry, harness.backend._watches, pool, harness.settings)
        assert not driver.removable(group)
        registry.stopping(SERVICE, Cause.STOPPED)
        assert driver.removable(group)


@pytest.mark.parametrize(
    ("asked", "cause"), [(False, Cause.ENGINE_FAULT), (True, Cause.STOPPED)], ids=["by itself", "stopped"]
)
def test_it_ends_with_its_task(
    registry: TaskRegistry, engine: Engine, unbegun: TaskRecord, asked: bool, cause: Cause
) -> None:
    why = "context deadline exceeded"
    registry.task_seen(
        SERVICE, TaskFacts("task", "group", 1, "failed", "shutdown", 110.0, unbegun.container_id, 0, why)
    )
    if asked:
        registry.stopping(SERVICE, Cause.STOPPED)
    inspect_ended(engine, unbegun, registry)
    seen = unbegun.observation
    assert (seen.state, seen.cause, seen.exit_code) == (ObservedState.ENDED, cause, None)
