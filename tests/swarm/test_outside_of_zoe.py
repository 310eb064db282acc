"""What an admin does to containers is said of their services within seconds, and is over when it is undone.

Ends by hand: `test_container_ended_by_hand_counts_as_killed`.
"""

from __future__ import annotations

from typing import Any

from tests.support.swarm_backend import SwarmHarness, small
from tests.swarm.cluster import Cluster
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.engine.spec.naming import labels

WITHIN_S = 5.0
SERVICE, NODE = "e.c.0.1", "node-2"


def test_pauses_disconnections_and_kills_are_said(harness: SwarmHarness, swarm: Cluster) -> None:
    def says(words: str) -> None:
        harness.until(lambda: words in message(harness), WITHIN_S)

    api: Any = swarm.host(NODE).api
    harness.start(small("exec sleep 1000"), SERVICE, NODE)
    harness.reach(SERVICE, ObservedState.READY)
    [container] = api.containers(filters={"label": f"{labels.SERVICES}={SERVICE}"})
    api.pause(container)
    says("its container is paused")
    [network] = api.inspect_container(container["Id"])["NetworkSettings"]["Networks"]
    api.unpause(container)
    harness.until(lambda: message(harness) == "", WITHIN_S)
    api.disconnect_container_from_network(container, network, force=True)
    says("it was disconnected from outside of Zoe")
    assert harness.reach(SERVICE, ObservedState.READY).cause is None
    api.kill(container)
    says(f"its container on {NODE} was ended from outside of Zoe, with signal 9")
    assert harness.reach(SERVICE, ObservedState.ENDED).cause is Cause.KILLED


def message(harness: SwarmHarness) -> str:
    seen = harness.seen(SERVICE)
    return "" if seen is None else seen.message
