"""Reserved cores where services compete for them."""

from __future__ import annotations

import time
from typing import Any

from tests.local.support import MIB
from tests.support.swarm_backend import SwarmHarness, small
from tests.support.swarm_installation import LONG
from tests.swarm.cluster import Cluster
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState
from zoe_master.backends.engine.spec.naming import labels

# All on one core: how a kernel spreads a few processes over several cores changes the shares by a fifth.
SPIN = "taskset -p 1 $$ && for i in 1 2 3 4; do (while :; do :; done) & done; wait"
RESERVED = {"e.c.0.1": 1600, "e.d.0.1": 400}
SECONDS, TOLERANCE = (20.0, 0.1) if LONG else (3.0, 0.2)


def test_services_that_compete_get_what_they_have_reserved(harness: SwarmHarness, swarm: Cluster) -> None:
    """All spin on one core; the test compares shares of their sum, because other tests run beside."""
    api: Any = swarm.host("node-2").api
    for service, cores_milli in RESERVED.items():
        component = small(SPIN, name=service[2], reservation=Resources(cores_milli, 32 * MIB), cores_limit_milli=None)
        harness.start(component, service, "node-2")
    for service in RESERVED:
        harness.reach(service, ObservedState.READY)
    containers = {container["Labels"][labels.SERVICES]: container["Id"] for container in api.containers()}
    before = {service: cpu_s(api, containers[service]) for service in RESERVED}
    time.sleep(SECONDS)
    used = {service: cpu_s(api, containers[service]) - before[service] for service in RESERVED}
    share = used["e.c.0.1"] / sum(used.values())
    assert abs(share - 0.8) <= 0.8 * TOLERANCE, used
    assert abs((1 - share) - 0.2) <= 0.2 * TOLERANCE, used


def cpu_s(api: Any, container: str) -> float:
    """By the container's control group."""
    return float(api.stats(container, stream=False, one_shot=True)["cpu_stats"]["cpu_usage"]["total_usage"]) / 1e9


def test_a_promised_core_is_a_core_beside_others_that_reserve_more(harness: SwarmHarness, swarm: Cluster) -> None:
    """Swarm cannot say so; the engine of the node can, once the container runs."""
    api: Any = swarm.host("node-2").api
    for service, cores_milli in {"e.c.0.1": 500, "e.d.0.1": 1500}.items():
        component = small(SPIN, name=service[2], reservation=Resources(cores_milli, 32 * MIB), cores_limit_milli=None)
        harness.start(component, service, "node-2", promised=service == "e.c.0.1")
    for service in ("e.c.0.1", "e.d.0.1"):
        harness.reach(service, ObservedState.READY)
    containers = {container["Labels"][labels.SERVICES]: container["Id"] for container in api.containers()}
    before = {service: cpu_s(api, entry) for service, entry in containers.items()}
    time.sleep(SECONDS)
    used = {service: cpu_s(api, entry) - before[service] for service, entry in containers.items()}
    assert used["e.c.0.1"] / sum(used.values()) >= 0.95, used
