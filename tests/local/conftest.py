"""A local back-end per test; the end of each test checks that no trace is left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.local.support import LocalWorld


@pytest.fixture
def world() -> Iterator[LocalWorld]:
    made = LocalWorld()
    yield made
    made.finish()


@pytest.fixture(params=["cgroup", "sampled"])
def either_world(request: pytest.FixtureRequest) -> Iterator[LocalWorld]:
    made = LocalWorld(cgroups=request.param == "cgroup")
    yield made
    made.finish()
