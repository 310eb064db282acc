"""Each user's own number and workspace on real engines, and what Zoe makes on the nodes' file system for them."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.support import ANN, BOB
from tests.support.swarm_backend import SwarmHarness, small
from tests.swarm.cluster import Cluster
from zoe_lib.domain.applications.application import Component, Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import Observation, ObservedState, ServiceStorage, SystemUser

NOBODY = 65534
USERS = {"ann": ANN, "bob": BOB}


class Workspaces:
    """Services of two users of a tenant, one after the other."""

    def __init__(self, harness: SwarmHarness) -> None:
        harness.base.chmod(0o755)
        self.harness = harness
        self.base = harness.base / "workspaces"
        self.base.mkdir(mode=0o755)
        self._count = 0
        harness.settings = replace(harness.settings, user="", workspaces_dir=self.base)

    def ended(
        self, user: str, component: Component, number: SystemUser | None = None, **changes: object
    ) -> tuple[Observation, str]:
        self._count += 1
        service = f"e{self._count}.c.0.1"
        self.harness.start(component, service, user=user, system_user=number or USERS[user], **changes)
        return self.harness.reach(service, ObservedState.ENDED), service

    def run(self, user: str, script: str, volumes: tuple[Volume, ...] = (), **changes: object) -> list[str]:
        ended, service = self.ended(user, small(f"exec 2>&1; {script}", volumes=volumes), **changes)
        assert ended.cause is Cause.EXITED, ended
        return self.harness.output(service).splitlines()

    def refused(self, user: str, number: SystemUser | None = None) -> str:
        ended, _ = self.ended(user, small("true"), number)
        assert ended.cause is Cause.START_FAILED
        return ended.message


@pytest.fixture
def world(swarm: Cluster) -> Iterator[Workspaces]:
    harness = SwarmHarness(swarm)
    yield Workspaces(harness)
    api = swarm.host("node-1").api
    harness.backend.forget([observation.service_id for observation in harness.backend.observe()])
    harness.until(lambda: not api.containers(all=True))
    for volume in api.volumes()["Volumes"] or []:
        if volume["Name"].endswith("-data"):
            api.remove_volume(volume["Name"])
    harness.finish()


def facts(path: Path) -> tuple[int, int, int]:
    found = path.lstat()
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


def test_each_user_has_a_number_a_workspace_and_a_part_in_the_tenants(world: Workspaces) -> None:
    said = world.run("ann", "id -u; id -g; echo mine > {workspace}/own; echo ours > {shared}/common; echo {shared}")
    assert said == [str(ANN.uid), str(ANN.gid), "/shared"]
    look = "ls {workspace}; cat {shared}/common; touch {shared}/more; ls -d {workspace}/../*/ann /proc/1/root/*/ann"
    said = world.run("bob", f"{look}; id -u")
    assert (said[0], said[-1]) == ("ours", str(BOB.uid))
    assert all("No such file" in line for line in said[1:-1])
    tenant = world.base / "tenant"
    assert facts(tenant)[::2] == (0, 0o711)
    assert facts(tenant / "ann") == (ANN.uid, ANN.gid, 0o700)
    assert facts(tenant / "bob") == (BOB.uid, BOB.gid, 0o700)
    assert facts(tenant / "shared") == (0, ANN.gid, 0o2770)
    assert facts(tenant / "ann" / "own")[0] == ANN.uid
    assert facts(tenant / "shared" / "more")[:2] == (BOB.uid, ANN.gid)


def test_a_user_named_like_the_shared_workspace_has_one_of_its_own(world: Workspaces) -> None:
    assert world.run("shared", "echo mine > {workspace}/own; ls {shared}", number=ANN) == []
    assert (world.base / "tenant" / "_shared" / "own").read_text() == "mine\n"


def test_files_of_zoe_are_the_users(world: Workspaces) -> None:
    storage = ServiceStorage(files={"core-site.xml": "key"})
    said = world.run(
        "ann", "cat $SPARK_CONF_DIR/core-site.xml; echo; stat -c '%a %u' $SPARK_CONF_DIR/*", storage=storage
    )
    assert said == ["key", f"400 {ANN.uid}"]


def test_without_a_number_nothing_starts(world: Workspaces) -> None:
    world.harness.start(small("true"), "n.c.0.1", system_user=None)
    assert "user_ids_last" in world.harness.reach("n.c.0.1", ObservedState.ENDED).message


def test_a_user_named_by_the_settings_wins_and_has_one_workspace(world: Workspaces) -> None:
    world.harness.settings = replace(world.harness.settings, tenant_users={"tenant": f"{NOBODY}:{NOBODY}"})
    (world.base / "tenant").mkdir()
    os.chown(world.base / "tenant", NOBODY, NOBODY)
    assert world.run("ann", "id -u; echo {workspace} {shared}; touch {shared}/x") == [
        str(NOBODY),
        "/workspace /workspace",
    ]
    assert (world.base / "tenant" / "x").exists()


def test_common_files_are_moved_to_the_shared_workspace(world: Workspaces) -> None:
    old, others = world.base / "tenant", world.harness.base / "others"
    (old / "below").mkdir(parents=True)
    (old / "below" / "program").write_text("echo run\n")
    (old / "below" / "program").chmod(0o700)
    (old / "link").symlink_to("/etc/passwd")
    (old / "roots").write_text("root's")
    (old / "roots").chmod(0o600)
    others.write_text("root's")
    for path in (old, old / "below", old / "below" / "program", old / "link"):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    (old / "below").chmod(0o700)
    os.link(others, old / "linked")
    assert world.run("ann", "ls {workspace}; {shared}/below/program; rm {shared}/below/program; ls {shared}") == [
        "run",
        "below",
        "link",
        "linked",
        "roots",
    ]
    assert facts(old)[::2] == (0, 0o711)
    assert facts(old / "shared" / "below") == (NOBODY, ANN.gid, 0o2770)
    assert facts(old / "shared" / "roots") == (0, 0, 0o600)
    assert facts(others)[1] == 0
    assert {path.name for path in world.base.iterdir()} == {"tenant"}


def test_a_move_that_was_interrupted_goes_on(world: Workspaces) -> None:
    moving = world.base / ".tenant.moving"
    moving.mkdir()
    (moving / "file").write_text("kept\n")
    for path in (moving, moving / "file"):
        os.chown(path, NOBODY, NOBODY)
    assert world.run("ann", "cat {shared}/file; ls {workspace}") == ["kept"]


def test_where_root_of_a_node_may_not_make_them_the_admin_is_told_how(world: Workspaces) -> None:
    """As on NFS with root_squash: here, root without privileges may not write to its own directory."""
    world.base.chmod(0o555)
    message = world.refused("ann")
    assert "tenant does not exist; Zoe may not make it" in message
    for _ in range(2):  # the message names one directory at a time
        for command in re.findall(r"install -d [^&;]*", message):
            subprocess.run(command.split(), check=True)
        ended, service = world.ended("ann", small("touch {workspace}/x {shared}/x; id -u"))
        if ended.cause is Cause.EXITED:
            break
        message = ended.message
        world.harness.reopen()  # a refusal holds for ten seconds
    assert world.harness.output(service).splitlines() == [str(ANN.uid)]


def test_a_workspace_of_another_number_is_refused(world: Workspaces) -> None:
    world.run("ann", "true")
    assert f"tenant/ann belongs to {ANN.uid}:{ANN.gid}, not to {BOB.uid}:{BOB.gid}" in world.refused("ann", BOB)


def test_a_link_in_place_of_the_tenants_directory_is_refused(world: Workspaces) -> None:
    (world.base / "tenant").symlink_to("/etc")
    assert "workspaces/tenant is a symbolic link" in world.refused("ann")


def test_no_workspace_is_made_where_tenants_may_replace_it(world: Workspaces) -> None:
    world.base.chmod(0o1777)
    assert "users other than root may change" in world.refused("ann")
    assert not list(world.base.iterdir())


def test_named_volumes_are_of_all_users_of_the_tenant(world: Workspaces) -> None:
    data = (Volume("/data", name="data"),)
    world.run("ann", "echo ours > /data/file", data)
    assert world.run("bob", "cat /data/file; touch /data/more; stat -c '%u:%g %a' /data", data) == [
        "ours",
        f"0:{ANN.gid} 2770",
    ]


def test_a_volume_of_before_is_given_to_the_tenants_group(world: Workspaces) -> None:
    data = (Volume("/data", name="data"),)
    one = small("mkdir -m 700 /data/below; echo old > /data/below/file", volumes=data)
    world.harness.reopen()
    world.harness.settings = replace(world.harness.settings, user=f"{NOBODY}:{NOBODY}", workspaces_dir=None)
    assert world.ended("ann", one)[0].exit_code == 0
    world.harness.reopen()
    world.harness.settings = replace(world.harness.settings, user="")
    assert world.run("ann", "cat /data/below/file; echo new > /data/below/file; cat /data/below/file", data) == [
        "old",
        "new",
    ]
