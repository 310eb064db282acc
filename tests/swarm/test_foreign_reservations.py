"""What Swarm services that are not Zoe's reserve is taken off their node: Swarm starts nothing on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.swarm_backend import SwarmHarness, small
from tests.swarm.cluster import Cluster
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState

GIB = 2**30


@pytest.fixture
def idle(swarm: Cluster) -> Iterator[str]:
    """A foreign Swarm service on node-2 that reserves 1.5 cores, 1 GiB and a device, and uses nothing."""
    api = swarm.manager.api
    reserved = {
        "NanoCPUs": 1500 * 10**6,
        "MemoryBytes": GIB,
        "GenericResources": [{"DiscreteResourceSpec": {"Kind": "gpu", "Value": 1}}],
    }
    node = next(node["ID"] for node in api.nodes() if node["Description"]["Hostname"] == "node-2")
    task = {
        "ContainerSpec": {"Image": "shell:latest", "Args": ["sleep", "1000"], "StopGracePeriod": 10**8, "Init": True},
        "Resources": {"Reservations": reserved},
        "Placement": {"Constraints": [f"node.id=={node}"]},
    }
    made = str(api.create_service(task, name="idle")["ID"])
    yield made
    if api.services(filters={"name": "idle"}):
        api.remove_service(made)


def test_a_node_has_less_by_what_another_swarm_service_reserves(
    harness: SwarmHarness, swarm: Cluster, idle: str
) -> None:
    def foreign() -> Resources:
        return next(node.foreign for node in harness.backend.nodes() if node.name == "node-2")

    harness.until(lambda: foreign() == Resources(1500, GIB, {"gpu": 1}))
    service = harness.start(small("exec sleep 1000"), node="node-2")  # what Zoe itself reserves is not foreign
    harness.reach(service, ObservedState.READY)
    assert foreign() == Resources(1500, GIB, {"gpu": 1})
    swarm.manager.api.remove_service(idle)
    harness.until(lambda: foreign().cores_milli == 0)
    harness.until(lambda: not any("idle" in name for name in harness.things()["containers of node-2"]))


def test_swarm_starts_nothing_in_what_is_reserved(harness: SwarmHarness, swarm: Cluster, idle: str) -> None:
    """Why it counts, however little it uses: a service for a certain node waits for its reservation, too."""
    api = swarm.manager.api
    harness.until(lambda: any(task["Status"]["State"] == "running" for task in api.tasks(filters={"service": idle})))
    large = Resources(1000, GIB // 32)
    service = harness.start(small("exec sleep 1000", reservation=large), node="node-2")
    harness.until(lambda: "insufficient resources" in (((seen := harness.seen(service)) and seen.message) or ""))
    api.remove_service(idle)
    harness.reach(service, ObservedState.READY)
    harness.until(lambda: not any("idle" in name for name in harness.things()["containers of node-2"]))
