"""A host path leads where it says, whatever a tenant puts on the way: tried with links at each part of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.swarm_backend import SwarmHarness, small
from tests.swarm.cluster import Cluster
from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState

NOBODY = 65534
PARTS = ("a", "b", "c")


class Directories:
    """An allowed directory with a/b/c in it, and one beside it with a file that must not be read through Zoe."""

    def __init__(self, harness: SwarmHarness) -> None:
        self.harness = harness
        harness.base.chmod(0o755)
        self.allowed = harness.base / "allowed"
        self.workspaces = harness.base / "workspaces"
        self.outside = harness.base / "outside"
        for top in (self.allowed, self.outside, self.workspaces / "tenant"):
            top.mkdir(parents=True)
            top.chmod(0o755)
        for top, text in ((self.allowed, "mine"), (self.outside, "stolen")):
            directory = top.joinpath(*PARTS)
            directory.mkdir(parents=True)
            for parent in (directory, *directory.parents[:2]):
                (parent / "file").write_text(f"{text}\n")
        (self.outside / "file").write_text("stolen\n")
        os.chown(self.allowed.joinpath(*PARTS), NOBODY, NOBODY)
        os.chown(self.workspaces / "tenant", NOBODY, NOBODY)
        harness.reopen()
        harness.settings = replace(harness.settings, host_paths_allowed=(self.allowed,))

    def use_workspaces(self) -> None:
        self.harness.settings = replace(self.harness.settings, workspaces_dir=self.workspaces)

    def reads(self, path: str) -> str:
        """Return the content at this path for a component; AssertionError with the reason when it is refused."""
        return self._end(small("cat /seen/file", volumes=(Volume("/seen", host_path=path),)))

    def reads_workspace(self) -> str:
        return self._end(small("cat /workspace/file"))

    def _end(self, component: object) -> str:
        harness = self.harness
        harness.start(component)  # type: ignore[arg-type]
        ended = harness.reach("e.c.0.1", ObservedState.ENDED)
        if ended.cause is Cause.EXITED:
            return harness.output("e.c.0.1")
        assert ended.cause is Cause.START_FAILED
        raise PermissionError(ended.message)


@pytest.fixture
def directories(swarm: Cluster) -> Iterator[Directories]:
    harness = SwarmHarness(swarm)
    yield Directories(harness)
    harness.finish()


def replaced_by_link(path: Path, target: Path) -> None:
    path.rename(path.with_name("aside"))
    path.symlink_to(target)


@pytest.mark.parametrize("depth", range(len(PARTS)))
def test_a_link_at_any_part_is_refused(directories: Directories, depth: int) -> None:
    below = PARTS[: depth + 1]
    replaced_by_link(directories.allowed.joinpath(*below), directories.outside.joinpath(*below))
    with pytest.raises(PermissionError, match=f"{'/'.join(below)} is a symbolic link"):
        directories.reads(str(directories.allowed.joinpath(*PARTS)))


@pytest.mark.parametrize("depth", range(len(PARTS)))
def test_replaceable_host_path_is_refused(directories: Directories, depth: int) -> None:
    """There is no link yet; a user with write access to a directory on the way could place one there at the right
    moment.
    """
    holder = directories.allowed.joinpath(*PARTS[:depth])
    if depth == 1:
        os.chown(holder, NOBODY, NOBODY)
    else:
        holder.chmod(0o777)
    with pytest.raises(PermissionError, match=f"users other than root may change {holder},"):
        directories.reads(str(directories.allowed.joinpath(*PARTS)))


@pytest.mark.parametrize("spelled", ["{}//a/./b/c/", "{}"])
def test_a_path_whose_parts_are_roots_is_mounted(directories: Directories, spelled: str) -> None:
    (directories.allowed / "file").write_text("mine\n")
    directories.allowed.joinpath("a").chmod(0o700)  # the tenant cannot enter it, the engine can
    assert directories.reads(spelled.format(directories.allowed)) == "mine\n"


def test_dots_that_lead_out_and_what_is_not_there_are_refused(directories: Directories) -> None:
    with pytest.raises(PermissionError, match="not on the admin's list"):
        directories.reads(f"{directories.allowed}/a/../../outside")


def test_a_part_that_is_not_there_is_named(directories: Directories) -> None:
    with pytest.raises(PermissionError, match="allowed/a/none does not exist"):
        directories.reads(f"{directories.allowed}/a/none/c")


def test_a_tenants_directory_is_mounted_and_a_link_in_its_place_is_not(directories: Directories) -> None:
    directories.use_workspaces()
    mine = directories.workspaces / "tenant"
    replaced_by_link(mine, directories.outside)
    with pytest.raises(PermissionError, match="workspaces/tenant is a symbolic link"):
        directories.reads_workspace()


def test_links_inside_a_workspace_stay_inside_its_container(directories: Directories) -> None:
    directories.use_workspaces()
    (directories.workspaces / "tenant" / "file").symlink_to(directories.outside / "file")
    assert "No such file" in directories.reads_workspace()


def test_an_allowed_path_inside_a_workspace_cannot_be_made_a_link(directories: Directories) -> None:
    """The tenant owns the directory around it, so naming it in the settings does not make it the admin's."""
    directories.use_workspaces()
    shared = directories.workspaces / "tenant" / "shared"
    shared.symlink_to(directories.outside)
    directories.harness.settings = replace(directories.harness.settings, host_paths_allowed=(shared,))
    with pytest.raises(PermissionError, match=r"users other than root may change .*/tenant,"):
        directories.reads(str(shared))


def test_workspaces_that_tenants_may_replace_are_refused(directories: Directories) -> None:
    directories.use_workspaces()
    directories.workspaces.chmod(0o1777)
    with pytest.raises(PermissionError, match=r"users other than root may change .*/workspaces,"):
        directories.reads_workspace()


def test_where_no_image_can_tell_nothing_is_mounted_and_it_is_the_platforms_doing(directories: Directories) -> None:
    harness = directories.harness
    harness.settings = replace(harness.settings, gateway_image="absent/gateway")
    path = str(directories.allowed.joinpath(*PARTS))
    harness.start(small("cat /seen/file", volumes=(Volume("/seen", host_path=path),)))
    ended = harness.reach("e.c.0.1", ObservedState.ENDED)
    assert ended.cause is Cause.ENGINE_FAULT
    assert "no allowed image" in ended.message
