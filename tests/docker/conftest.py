"""One engine for all tests of a run that need it, and a back-end on it for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.docker.one_engine import OneEngine
from tests.support.docker_backend import DockerHarness
from tests.support.swarm import need_swarm


@pytest.fixture(scope="session")
def engine() -> Iterator[OneEngine]:
    need_swarm()
    made = OneEngine()
    yield made
    made.remove()


@pytest.fixture
def harness(engine: OneEngine) -> Iterator[DockerHarness]:
    made = DockerHarness(engine)
    yield made
    made.finish()
