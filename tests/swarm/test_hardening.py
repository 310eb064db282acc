"""An engine that gives containers less protection than it must is not used, and says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.swarm_backend import SwarmHarness
from tests.swarm.cluster import Cluster

ULIMITS = {"nofile": 4096, "core": 0}


@pytest.fixture
def checked(swarm: Cluster) -> Iterator[SwarmHarness]:
    made = SwarmHarness(swarm, allow_unhardened=False, ulimits_max=ULIMITS)
    yield made
    made.finish()


def test_engines_that_are_as_they_must_be_are_used(checked: SwarmHarness) -> None:
    nodes = checked.backend.nodes()
    assert [(node.ready, node.message) for node in nodes] == [(True, "")] * 3


def test_one_without_a_setting_is_not_used_until_it_has_it(checked: SwarmHarness, swarm: Cluster) -> None:
    def node() -> Any:
        return next(node for node in checked.backend.nodes() if node.name == "node-3")

    assert node().ready
    try:
        swarm.host("node-3").kill_engine()
        swarm.restart_engine("node-3", hardening=())
        checked.until(lambda: "without --no-new-privileges" in node().message)
        assert "more than 0 (--default-ulimit)" in node().message
        assert not node().ready
    finally:
        if swarm.host("node-3").engine_runs:
            swarm.host("node-3").kill_engine()
        swarm.restart_engine("node-3")
        swarm.await_node("node-3", "ready")
    checked.until(lambda: node().ready)


def test_what_cannot_be_checked_is_not_used_and_what_is_allowed_is_not_checked(checked: SwarmHarness) -> None:
    checked.settings = replace(checked.settings, images=("none",), gateway_image="absent/gateway")
    assert not any(node.ready for node in checked.backend.nodes())
    assert all("no image that may run there" in node.message for node in checked.backend.nodes())
    checked.reopen()
    checked.settings = replace(checked.settings, allow_unhardened=True)
    assert all(node.ready for node in checked.backend.nodes())
