"""An engine that gives containers less protection than it must is not used, and says why."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.images import provide
from tests.support.swarm_backend import SwarmHarness, small
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import Cluster
from zoe_master.backends.base import ObservedState
from zoe_master.backends.engine.daemon import engine_events
from zoe_master.backends.engine.daemon import probe_containers as probing
from zoe_master.backends.engine.spec.naming import labels

ULIMITS = {"nofile": 4096, "core": 0}


@pytest.fixture
def checked(swarm: Cluster) -> Iterator[SwarmHarness]:
    made = SwarmHarness(swarm, allow_unhardened=False, ulimits_max=ULIMITS)
    yield made
    made.finish()


@pytest.fixture
def closing(swarm: Cluster) -> Iterator[SwarmHarness]:
    """Whose closing is checked, too."""
    provide(swarm, "zoe/gateway")
    made = SwarmHarness(
        swarm, allow_unhardened=False, ulimits_max=ULIMITS, check_closed=True, gateway_image="zoe/gateway"
    )
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


def message_of(harness: SwarmHarness, name: str) -> str:
    return next(node.message for node in harness.backend.nodes() if node.name == name)


def test_unchecked_node_is_not_used_unless_allowed(
    checked: SwarmHarness, swarm: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is the engine's error; containers of a killed master's checks are removed."""
    checked.settings = replace(checked.settings, images=("none",), gateway_image="absent/gateway")
    assert not any(node.ready for node in checked.backend.nodes())
    assert all("no allowed image" in node.message for node in checked.backend.nodes())
    checked.reopen()
    api: Any = swarm.host("node-2").api
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w"):
        pass
    api.import_image_from_data(packed.getvalue(), repository="void")
    old = api.create_container(
        "shell", ["sleep", "1000"], labels={labels.INSTALLATION: "zoe", labels.OF_A_MOMENT: "true"}
    )
    monkeypatch.setattr(probing, "_ABANDONED_S", -60.0)
    checked.settings = replace(checked.settings, images=("void",))
    assert "(void:latest: " in (said := message_of(checked, "node-2"))
    assert "/bin/cat" in said.partition("(void:latest: ")[2]
    assert old["Id"] not in {container["Id"] for container in api.containers(all=True)}
    api.remove_image("void", force=True)  # the next look may have made a container of it
    checked.reopen()
    checked.settings = replace(checked.settings, allow_unhardened=True)
    assert all(node.ready for node in checked.backend.nodes())


def test_probe_of_a_killed_master_is_removed_while_the_next_leads(
    harness: SwarmHarness, swarm: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A successor connects before the container is old enough, and nothing else makes it connect again."""
    monkeypatch.setattr(probing, "_ABANDONED_S", -60.0)
    monkeypatch.setattr(engine_events, "_SWEEP_INTERVAL_S", 0.5)
    assert all(node.ready for node in harness.backend.nodes())
    api: Any = swarm.host("node-2").api
    marks = {labels.INSTALLATION: "zoe", labels.OF_A_MOMENT: "true"}
    made = api.create_container("shell", ["sleep", "1000"], labels=marks)
    harness.until(lambda: made["Id"] not in {container["Id"] for container in api.containers(all=True)})


@needs_time
def test_short_lives_keep_their_output(closing: SwarmHarness) -> None:
    """Many that end while engines are still asked about them and about themselves, and are forgotten at once."""
    closing.until(lambda: all(node.ready for node in closing.backend.nodes()))
    services = [f"s{number % 3}.c.{number}.1" for number in range(15)]
    for number, service in enumerate(services):
        closing.start(small(f"echo {service}; sleep 0.{number % 10}"), service, f"node-{1 + number % 3}")
    for service in services:
        assert closing.reach(service, ObservedState.ENDED).exit_code == 0
        closing.backend.forget([service])
    for service in services:
        closing.until(lambda entry=service: closing.output(entry) == f"{entry}\n")
