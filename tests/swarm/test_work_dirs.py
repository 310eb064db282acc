"""A component can write where it starts, though engines make missing directories root's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.swarm_backend import SwarmHarness, small
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from zoe_lib.domain.application import Component, Volume
from zoe_master.backends.base import ObservedState

WRITE = "pwd; echo kept > file && cat file"
DATA = (Volume("/data", name="data"),)
ABOVE = (Volume("/tmp/mine", name="data"),)


@pytest.fixture
def world(swarm: Cluster) -> Iterator[SwarmHarness]:
    """With a workspace of the tenant, which its components may write to, as an admin makes it."""
    made = SwarmHarness(swarm, images=("shell", GATEWAY_IMAGE))
    made.base.chmod(0o755)
    workspace = made.base / "workspaces" / "tenant"
    workspace.mkdir(parents=True)
    os.chown(workspace, 65534, 65534)
    made.settings = replace(made.settings, workspaces_dir=workspace.parent)
    yield made
    api = swarm.host("node-1").api
    made.backend.forget([one.service_id for one in made.backend.observe()])
    made.until(lambda: not api.containers(all=True))
    for volume in api.volumes()["Volumes"] or []:
        if volume["Name"].endswith("-data"):  # a named volume stays, by its purpose; nothing else may
            api.remove_volume(volume["Name"])
    made.finish()


@pytest.mark.parametrize(
    "component",
    [
        small(WRITE, work_dir="{scratch}"),
        small(WRITE, work_dir="{scratch}/mine"),
        small(WRITE, work_dir="{scratch}/mine/{index}/deep"),
        small(WRITE, work_dir="{scratch}/mine", read_only_root=True),
        small(WRITE, work_dir="{workspace}/mine/deep"),
        small(WRITE, work_dir="/data", volumes=DATA),
        small(WRITE, work_dir="/data/mine/deep", volumes=DATA),
        small(WRITE, work_dir="{scratch}/mine/deep", volumes=ABOVE),
    ],
    ids=lambda one: f"{one.work_dir}{' read-only' if one.read_only_root else ''}{' volume' if one.volumes else ''}",
)
def test_a_component_can_write_to_its_work_dir(world: SwarmHarness, component: Component) -> None:
    services = [world.start(component, f"e.c.{index}.1") for index in range(2)]
    for index, service in enumerate(services):
        ended = world.reach(service, ObservedState.ENDED)
        assert ended.exit_code == 0, world.output(service)
        named = (component.work_dir or "").replace("{index}", str(index))
        path = named.replace("{scratch}", "/tmp").replace("{workspace}", "/workspace")
        assert world.output(service) == f"{path}\nkept\n"


def test_the_scratch_of_a_service_is_its_own(world: SwarmHarness) -> None:
    component = small("ls; touch file", work_dir="{scratch}/mine")
    for index in range(2):
        service = world.start(component, f"e.c.{index}.1")
        assert world.reach(service, ObservedState.ENDED).exit_code == 0
        assert world.output(service) == ""
