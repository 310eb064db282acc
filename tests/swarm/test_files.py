"""Files of users on real engines: a container of the user serves them, and no files of other users."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.local.support import ANN, BOB
from tests.support.array_world import World
from tests.support.files import FileProgram, refused
from tests.support.images import provide
from tests.support.swarm_backend import SwarmHarness, small
from tests.support.waiting import until
from tests.swarm.cluster import Cluster
from zoe_client.vocabulary import ListProblem
from zoe_lib.domain.applications.entry_reading import ListRefused
from zoe_master.backends.base import BackendError, MovedWorkspace, MoveState, ObservedState, WorkspaceMove
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.file_task import FileLimits
from zoe_master.background.list_reading import read_list

MIB = 2**20
USERS = {"ann": ANN, "bob": BOB}


class Files:
    """A back-end with workspaces, and the containers that serve them."""

    def __init__(self, harness: SwarmHarness) -> None:
        harness.base.chmod(0o755)
        self.harness = harness
        self.base = harness.base / "workspaces"
        self.base.mkdir(mode=0o755)
        harness.settings = replace(
            harness.settings, user="", workspaces_dir=self.base, gateway_image="zoe/gateway", images=("shell", "zoe/*")
        )

    def of(self, user: str, root: str = "workspace") -> FileProgram:
        return FileProgram(self.harness.backend.files("tenant", user, USERS[user]), root)

    def containers(self) -> dict[str, tuple[Any, str]]:
        """The engine and the id of each by its owner."""
        found = {}
        for host in self.harness.cluster.hosts:
            for container in host.api.containers(filters={"label": labels.FILES_OF}):
                found[container["Labels"][labels.FILES_OF]] = (host.api, container["Id"])
        return found


@pytest.fixture
def files(swarm: Cluster, harness: SwarmHarness) -> Iterator[Files]:
    provide(swarm, "zoe/gateway")
    yield Files(harness)
    harness.reopen()  # they end with the back-end


@pytest.fixture
def ann(files: Files) -> Iterator[FileProgram]:
    with files.of("ann") as program:
        yield program


def test_a_file_goes_up_as_the_user_and_comes_back(files: Files, ann: FileProgram) -> None:
    content = random.Random(1).randbytes(5 * MIB)
    assert ann.post("/directories", params={"path": "a/b"}).status_code == 201
    ann.put_file("a/b/data.bin", content)
    there = files.base / "tenant" / "ann" / "a" / "b" / "data.bin"
    assert hashlib.sha256(there.read_bytes()).digest() == hashlib.sha256(content).digest()
    assert (there.stat().st_uid, there.stat().st_gid) == (ANN.uid, ANN.gid)
    assert ann.content("a/b/data.bin").content == content
    with files.of("ann", "shared") as shared:
        shared.put_file("ours.txt", b"ours")
    with files.of("bob", "shared") as shared:
        assert shared.content("ours.txt").content == b"ours"
        shared.put_file("ours.txt", b"changed")
    assert (files.base / "tenant" / "shared" / "ours.txt").read_bytes() == b"changed"


def test_other_users_are_refused_and_links_do_not_leave_the_workspace(files: Files, ann: FileProgram) -> None:
    ann.put_file("mine", b"mine")
    with FileProgram(replace(files.harness.backend.files("tenant", "ann", ANN), secret="guessed")) as other:
        assert other.get("/", params={"path": ""}).status_code in (401, 403)
    with files.of("bob") as bob:
        assert bob.names() == []
        bob.put_file("own", b"")
        for target in ("/workspace/../../ann/mine", "/etc/passwd", "../ann/mine"):
            link = files.base / "tenant" / "bob" / "link"
            link.symlink_to(target)
            assert bob.content("link").status_code in (403, 404)
            link.unlink()


def test_a_list_of_a_workflow_is_read_as_its_owner(files: Files, ann: FileProgram) -> None:
    ann.put_file("parts.json", b'["a"]')
    array = replace(World().submit_for([]), tenant="tenant", user="ann")
    assert read_list(files.harness.backend.files, ANN, array) == b'["a"]'
    (files.base / "tenant" / "ann" / "parts.json").unlink()
    (files.base / "tenant" / "ann" / "parts.json").symlink_to("/etc/passwd")
    with pytest.raises(ListRefused) as refused:
        read_list(files.harness.backend.files, ANN, array)
    assert refused.value.problem is ListProblem.UNREADABLE


def test_the_container_has_no_privileges_and_its_secret_is_not_told(files: Files, ann: FileProgram) -> None:
    api, container = files.containers()["tenant/ann"]
    inspected = api.inspect_container(container)
    assert inspected["Config"]["User"] == f"{ANN.uid}:{ANN.gid}"
    host = inspected["HostConfig"]
    assert (host["CapDrop"], host["ReadonlyRootfs"], host["Memory"]) == (["ALL"], True, 128 * MIB)
    assert "no-new-privileges" in host["SecurityOpt"]
    assert files.harness.backend.files("tenant", "ann", ANN).secret not in str(inspected)


def test_it_is_used_again_and_another_one_takes_over_from_a_killed_one(files: Files, ann: FileProgram) -> None:
    begun = ann.begin("big", 2 * MIB)
    assert ann.append(begun.headers["Upload-Id"], 0, b"x" * MIB).status_code == 204
    first = files.harness.backend.files("tenant", "ann", ANN)
    assert first == files.harness.backend.files("tenant", "ann", ANN)
    api, container = files.containers()["tenant/ann"]
    api.kill(container)
    with files.of("ann") as again:
        assert again.head(f"/uploads/{begun.headers['Upload-Id']}").headers["Upload-Offset"] == str(MIB)
        assert again.append(begun.headers["Upload-Id"], MIB, b"y" * MIB).status_code == 204
        assert again.content("big").content == b"x" * MIB + b"y" * MIB
    assert list(files.containers()) == ["tenant/ann"]


def test_it_ends_when_it_is_idle_and_with_the_back_end(files: Files) -> None:
    files.harness.settings = replace(files.harness.settings, files=FileLimits(idle_s=1.0))
    with files.of("ann") as ann:
        assert ann.names() == []
    until(lambda: not files.containers(), 30)
    files.of("ann").close()
    files.harness.reopen()
    assert not files.containers()


def test_bounds_of_the_settings_hold(files: Files) -> None:
    files.harness.settings = replace(files.harness.settings, files=FileLimits(upload_bytes_max=10))
    with files.of("ann") as ann:
        assert "10" in refused(ann.begin("big", 11), 413, "too_large")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workspaces_dir": None}, "engine_workspaces_dir"),
        ({"gateway_image": "zoe/none"}, "zoe/none"),
        ({"gateway_image": ""}, "swarm_gateway_image"),
    ],
)
def test_missing_setting_is_named(files: Files, changes: dict[str, Any], words: str) -> None:
    files.harness.settings = replace(files.harness.settings, **changes)
    with pytest.raises(BackendError, match=words):
        files.of("ann")


def test_a_workspace_that_is_another_users_is_not_served(files: Files) -> None:
    (files.base / "tenant").mkdir(mode=0o711)
    (files.base / "tenant" / "ann").mkdir(mode=0o777)
    os.chown(files.base / "tenant" / "ann", BOB.uid, BOB.gid)
    with pytest.raises(BackendError, match=f"belongs to {BOB.uid}:"):
        files.of("ann")


def test_the_workspace_of_a_user_who_leaves_is_given_to_another(
    files: Files, ann: FileProgram, harness: SwarmHarness
) -> None:
    ann.put_file("mine", b"ann")
    harness.start(small("ln -s /etc/passwd link; chmod 0 .; exec sleep 600", work_dir="{workspace}/deep"), user="ann")
    harness.reach("e.c.0.1", ObservedState.READY)
    until((deep := files.base / "tenant" / "ann" / "deep").joinpath("link").is_symlink)
    move = WorkspaceMove("tenant", "ann", "bob", ANN, BOB)
    waits = harness.backend.move_workspace(move)
    assert (waits.state, "e still run as ann" in waits.message) == (MoveState.WAITING, True)
    assert deep.stat().st_uid == ANN.uid
    harness.reopen()  # the next master knows for whom it was started
    assert harness.backend.move_workspace(move).state is MoveState.WAITING
    harness.backend.stop(["e.c.0.1"])
    harness.reach("e.c.0.1", ObservedState.ENDED)

    def moved() -> MovedWorkspace:
        told: list[MovedWorkspace] = []
        until(lambda: told.append(harness.backend.move_workspace(move)) or told[-1].state is not MoveState.MOVING)
        return told[-1]

    assert moved() == MovedWorkspace(MoveState.MOVED, directory="from-ann")
    given = files.base / "tenant" / "bob" / "from-ann"
    assert {path.lstat().st_uid for path in (given, *given.rglob("*"))} == {BOB.uid}
    assert {"mine", "deep"} <= {path.name for path in given.iterdir()}
    assert Path("/etc/passwd").stat().st_uid == 0
    assert not (files.base / "tenant" / "ann").exists()
    with files.of("bob") as program:
        assert program.content("from-ann/mine").content == b"ann"
    assert moved().state is MoveState.NOTHING
