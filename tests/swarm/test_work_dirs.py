"""A component can write where it starts, though engines make missing directories root's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.swarm_backend import GONE, SwarmHarness, small
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from zoe_lib.domain.applications.application import Volume
from zoe_master.backends.base import ObservedState

SHARED = "{workspace}", "{index}"
WRITE = "pwd; echo kept > file && cat file"
PLACES = (
    small(WRITE, work_dir="{scratch}"),
    small(WRITE, work_dir="{scratch}/mine"),
    small(WRITE, work_dir="{scratch}/mine/{index}/deep"),
    small(WRITE, work_dir="{scratch}/mine", read_only_root=True),
    small(WRITE, work_dir="{workspace}/mine/deep"),
    small(WRITE, work_dir="/data", volumes=(Volume("/data", name="1-data"),)),
    small(WRITE, work_dir="/data/mine/deep", volumes=(Volume("/data", name="2-data"),)),
    small(WRITE, work_dir="{scratch}/mine/deep", volumes=(Volume("/tmp/mine", name="3-data"),)),
)


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
    made.backend.stop(
        [observation.service_id for observation in made.backend.observe()]
    )  # where the test failed, some still run
    made.until(lambda: all(observation.state in GONE for observation in made.backend.observe()))
    made.backend.forget([observation.service_id for observation in made.backend.observe()])
    made.until(lambda: not api.containers(all=True))
    for volume in api.volumes()["Volumes"] or []:
        if volume["Name"].endswith("-data"):  # a named volume stays, by its purpose; nothing else may
            api.remove_volume(volume["Name"])
    made.finish()


@needs_time
def test_components_can_write_to_their_work_dirs(world: SwarmHarness) -> None:
    """In one execution, since each has a network; no component has a volume of another. Two services where both may
    come to one place.
    """
    begun = {
        world.start(replace(component, name=f"c{number}"), f"e.c{number}.{index}.1"): (component.work_dir or "", index)
        for number, component in enumerate(PLACES)
        for index in range(2 if component.volumes or any(word in str(component.work_dir) for word in SHARED) else 1)
    }
    for service, (work_dir, index) in begun.items():
        ended = world.reach(service, ObservedState.ENDED)
        assert ended.exit_code == 0, (work_dir, world.output(service))
        path = work_dir.format(index=index, scratch="/tmp", workspace="/workspace")
        assert world.output(service) == f"{path}\nkept\n"


def test_the_scratch_of_a_service_is_its_own(world: SwarmHarness) -> None:
    component = small("ls; touch file", work_dir="{scratch}/mine")
    for index in range(2):
        service = world.start(component, f"e.c.{index}.1")
        assert world.reach(service, ObservedState.ENDED).exit_code == 0
        assert world.output(service) == ""
