"""Podman for all tests of a run that need it, and a back-end on it for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.docker.conftest import harness
from tests.podman.podman_engine import PodmanEngine
from tests.support.needs import need_program
from tests.support.swarm import need_swarm

__all__ = ["harness"]


@pytest.fixture(scope="session")
def engine() -> Iterator[PodmanEngine]:
    need_swarm()
    for program in ("podman", "/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns", "catatonit", "runc"):
        need_program(program)
    made = PodmanEngine()
    yield made
    made.remove()
