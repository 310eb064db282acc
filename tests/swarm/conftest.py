"""One swarm for all tests of a run that need it, and a back-end on it for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.images import provide
from tests.support.postgres import postgres_server, postgres_url, store
from tests.support.swarm import swarm
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import Installation
from tests.swarm.cluster import Cluster

__all__ = ["harness", "postgres_server", "postgres_url", "store", "swarm"]


@pytest.fixture
def harness(swarm: Cluster) -> Iterator[SwarmHarness]:
    made = SwarmHarness(swarm)
    yield made
    made.finish()


@pytest.fixture
def installation(swarm: Cluster, harness: SwarmHarness) -> Installation:
    provide(swarm, "zoe/gateway")
    return Installation(harness)


@pytest.fixture
def engine_3(swarm: Cluster, harness: SwarmHarness) -> Iterator[str]:
    """The node to do harm to; whole again afterwards."""
    yield "node-3"
    swarm.host("node-3").plug()
    if not swarm.host("node-3").engine_runs:
        swarm.restart_engine("node-3")
    swarm.await_node("node-3", "ready")
    harness.until(lambda: all(node.ready for node in harness.backend.nodes()))
