"""A master during faults of the swarm: waiting executions with reasons, retries, and unaffected ones."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from tests.support.needs import need_program
from tests.support.swarm_installation import Installation
from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import wait_for
from tests.swarm.registry import registry
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Cause, ExecutionState, ServiceState
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.engine.spec.naming.names import attempt_name
from zoe_master.scheduler.what_if.explain import explain

MIB, GIB = 2**20, 2**30


def sleepers(name: str, essential: int = 1, total: int | None = None, **changes: Any) -> dict[str, Any]:
    """Containers that do nothing for long, with a network of their own."""
    main = {
        "name": "main",
        "image": "zoe/tiny",
        "command": ["sleep", "1000"],
        "resources": {"memory": "32MiB", "cores": 0.05},
        "essential_count": essential,
        "total_count": total or essential,
        "ports": [{"name": "rpc", "number": 7077}],
        "stop_grace_s": 1,
    }
    return {"version": 4, "name": name, "components": [{**main, **changes}]}


def node_of(installation: Installation, name: str) -> Node:
    return next(node for node in installation.harness.backend.nodes() if node.name == name)


def test_no_service_is_placed_over_a_foreign_container(installation: Installation, swarm: Cluster) -> None:
    api: Any = swarm.host("node-2").api
    limits = api.create_host_config(mem_limit=2 * GIB)
    foreign = api.create_container("shell", ["sleep", "1000"], host_config=limits)
    wanted_mib = min(node.total.memory_bytes for node in installation.harness.backend.nodes()) // MIB - 1024
    try:
        api.start(foreign)
        installation.harness.until(lambda: node_of(installation, "node-2").foreign.memory_bytes == 2 * GIB)
        large = sleepers("large", 3, resources={"memory": f"{wanted_mib}MiB", "cores": 0.05})
        execution_id = installation.submit(large)
        tick = installation.master.tick()
        reason = installation.store.execution(execution_id).reason
        assert reason is not None
        assert reason.code is ReasonCode.FOREIGN_USE
        told = explain(tick.snapshot, installation.master.policy, execution_id)
        assert told is not None
        assert set(told.nodes) == {"node-2"}
        assert told.nodes["node-2"]["main"].startswith("memory: ")
        assert installation.containers(installation.store.execution(execution_id)) == {}
    finally:
        api.remove_container(foreign, force=True)
    running = installation.until(execution_id, lambda e: e.state is ExecutionState.RUNNING, 60)
    assert {service.node for service in running.services} == {"node-1", "node-2", "node-3"}
    installation.end(execution_id)


def test_a_lost_node_ends_a_try_of_cores_and_elastic_services_move(
    installation: Installation, swarm: Cluster, engine_3: str
) -> None:
    installation.store.set_policy(Policy(elastic_backoff_s=0.5, retry_backoff_s=0.5), 0, time.time(), "test")
    core = installation.ready(sleepers("core", 3), 60)
    loose = installation.submit(sleepers("loose", 1, 3))
    elastic = installation.until(loose, lambda e: all(s.state is ServiceState.READY for s in e.services), 60)
    assert {s.node for s in core.services} == {"node-1", "node-2", "node-3"}
    [moving] = [s for s in elastic.services if s.node == engine_3 and not s.core]
    swarm.host(engine_3).kill_engine()

    again = installation.until(core.id, lambda e: e.attempt == 2 and e.state is ExecutionState.RUNNING, 90)
    old = next(s for s in again.services if s.node == engine_3)
    assert (old.state, old.cause) == (ServiceState.LOST, Cause.NODE_LOST)
    assert {s.node for s in again.current()} == {"node-1", "node-2"}
    moved = installation.until(loose, lambda e: all(s.state is ServiceState.READY for s in e.current()), 60)
    [lost, *_, successor] = [s for s in moved.services if s.index == moving.index]
    assert (lost.state, moved.state, moved.attempt) == (ServiceState.LOST, ExecutionState.RUNNING, 1)
    assert successor.node in ("node-1", "node-2")
    assert lost.ended_at_s is not None
    # The pause counts from the beginning of the tick in which the loss is seen.
    assert successor.not_before_s > lost.ended_at_s

    check_that_attempts_share_nothing(installation, swarm, engine_3, core.id)
    swarm.restart_engine(engine_3)
    check_that_leftovers_go_first(installation, swarm, engine_3)
    for execution_id in (core.id, loose):
        installation.end(execution_id)


def test_a_lost_core_ends_the_execution_where_it_may_not_be_tried_again(
    installation: Installation, swarm: Cluster, engine_3: str
) -> None:
    installation.store.set_policy(Policy(start_attempts_max=1), 0, time.time(), "test")
    core = installation.ready(sleepers("core", 3), 60)
    swarm.host(engine_3).kill_engine()
    ended = installation.until(core.id, lambda e: e.state is ExecutionState.FAILED, 90)
    assert (ended.attempt, ended.cause) == (1, Cause.NODE_LOST)
    assert {s.node: s.state for s in ended.services} == {
        "node-1": ServiceState.ENDED,
        "node-2": ServiceState.ENDED,
        engine_3: ServiceState.LOST,
    }
    swarm.restart_engine(engine_3)
    check_that_leftovers_go_first(installation, swarm, engine_3)


def check_that_attempts_share_nothing(
    installation: Installation, swarm: Cluster, lost_node: str, execution_id: str
) -> None:
    """The old containers still run, and those of the new attempt have a network that none of them is in."""
    assert b"sleep 1000" in swarm.host(lost_node).inside("ps", "-ef")
    old, new = (attempt_name("zoe", Attempt(execution_id, number)) for number in (1, 2))
    assert old != new
    for containers in installation.containers(installation.store.execution(execution_id)).values():
        for container in containers:
            assert set(container["NetworkSettings"]["Networks"]) == {new}


def check_that_leftovers_go_first(installation: Installation, swarm: Cluster, node: str) -> None:
    """When the node may be used again, nothing of before runs there."""

    def ready() -> bool:
        installation.master.tick()
        return node_of(installation, node).ready

    wait_for(ready, lambda: str(node_of(installation, node)))
    assert swarm.host(node).api.containers(filters={"label": f"{labels.GENERATION}=1"}) == []


def test_a_pull_is_waited_for_and_said(installation: Installation, swarm: Cluster) -> None:
    need_program("docker-registry")
    api: Any = swarm.manager.api
    with registry(swarm) as address:
        name = f"{address}/pulled"
        api.tag("shell:latest", name, "latest")
        assert "error" not in api.push(name, "latest")
        api.remove_image(name)
        harness = installation.harness
        harness.settings = replace(harness.settings, images=("**",), pull_images=True)
        installation.restart_master()
        execution_id = installation.submit(sleepers("pulled", 3, image=name))
        installation.master.tick()
        reason = installation.store.execution(execution_id).reason
        assert reason is not None
        assert reason.code is ReasonCode.IMAGE_PULLING
        assert reason.sentence.endswith("is being pulled: on node-1, node-2, node-3.")
        running = installation.until(execution_id, lambda e: e.state is ExecutionState.RUNNING, 60)
        assert len({service.node for service in running.services}) == 3
        installation.end(execution_id)
    for host in swarm.hosts:
        host.api.remove_image(name, force=True)


def test_an_engine_without_its_settings_is_refused_and_explained(installation: Installation) -> None:
    harness = installation.harness
    harness.settings = replace(harness.settings, allow_unhardened=False, ulimits_max={"nofile": 64})
    installation.restart_master()
    execution_id = installation.submit(sleepers("held"))
    tick = installation.master.tick()
    told = explain(tick.snapshot, installation.master.policy, execution_id)
    assert told is not None
    assert {texts["main"] for texts in told.nodes.values()} == {"the node is not ready"}
    assert all("more than 64" in node.message for node in harness.backend.nodes())
    assert len(told.nodes) == 3
