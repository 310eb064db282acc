"""One swarm for all tests of a run that need it, and a back-end on it for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.images import provide
from tests.support.swarm import swarm
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import Installation
from tests.swarm.cluster import Cluster

__all__ = ["harness", "swarm"]


@pytest.fixture
def harness(swarm: Cluster) -> Iterator[SwarmHarness]:
    made = SwarmHarness(swarm)
    yield made
    made.finish()


@pytest.fixture
def installation(swarm: Cluster, harness: SwarmHarness) -> Installation:
    provide(swarm, "zoe/gateway")
    return Installation(harness)
