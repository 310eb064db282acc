"""The contract of the Backend Protocol, on the test swarm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract import test_backend as contract
from tests.support.swarm_backend import SwarmHarness
from tests.swarm.cluster import Cluster

globals().update({name: test for name, test in vars(contract).items() if name.startswith("test_")})


@pytest.fixture
def harness(swarm: Cluster) -> Iterator[SwarmHarness]:
    made = SwarmHarness(swarm)
    yield made
    made.finish()
