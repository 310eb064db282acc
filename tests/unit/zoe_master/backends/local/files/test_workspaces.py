"""Workspaces of users and tenants, and the move of a former common workspace."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from zoe_master.backends.local.files.directories import ComponentUser
from zoe_master.backends.local.files.workspaces import tenant_volume, workspaces
from zoe_master.backends.services.failures import CannotStartError

IS_ROOT = os.geteuid() == 0
ADA = ComponentUser(450_001, 450_009) if IS_ROOT else None
BOB = ComponentUser(450_002, 450_009) if IS_ROOT else None
NOBODY = 65534


def facts(path: Path) -> tuple[int, int, int]:
    found = path.lstat()
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


def old_workspace(base: Path) -> Path:
    """Make a workspace as version 0.2 left it: files of all users of the tenant, of one system user."""
    old = base / "lab"
    (old / "below").mkdir(parents=True)
    (old / "below" / "program").write_text("program")
    (old / "below" / "program").chmod(0o700)
    (old / "shared").write_text("a name that is taken")
    (old / "link").symlink_to("/etc/hostname")
    old.chmod(0o700)
    if IS_ROOT:
        for path in (old, *old.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return old


def test_each_user_has_a_workspace_beside_the_shared_one(tmp_path: Path) -> None:
    own, shared = workspaces(tmp_path, "lab", "ada", ADA)
    assert (own, shared) == (tmp_path / "lab" / "ada", tmp_path / "lab" / "shared")
    (own / "file").touch()
    assert workspaces(tmp_path, "lab", "ada", ADA) == (own, shared)
    assert workspaces(tmp_path, "lab", "bob", BOB)[0] == tmp_path / "lab" / "bob"
    assert workspaces(tmp_path, "lab", "shared", BOB)[0] == tmp_path / "lab" / "_shared"
    assert stat.S_IMODE((tmp_path / "lab").stat().st_mode) == 0o711
    if ADA is not None:
        assert facts(tmp_path / "lab")[:2] == (0, 0)
        assert facts(own) == (ADA.uid, ADA.gid, 0o700)
        assert facts(shared) == (0, ADA.gid, 0o2770)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "a\nb"])
def test_names_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotStartError):
        workspaces(tmp_path, name, "ada", ADA)
    with pytest.raises(CannotStartError):
        workspaces(tmp_path, "lab", name, ADA)
    with pytest.raises(CannotStartError):
        tenant_volume(tmp_path, "lab", name, ADA)


def test_common_files_are_moved_once(tmp_path: Path) -> None:
    old_workspace(tmp_path)
    own, shared = workspaces(tmp_path, "lab", "ada", ADA)
    assert not list(own.iterdir())
    assert {path.name for path in shared.iterdir()} == {"below", "shared", "link"}
    assert (shared / "below" / "program").read_text() == "program"
    (shared / "new").touch()
    workspaces(tmp_path, "lab", "bob", BOB)
    assert {path.name for path in shared.iterdir()} == {"below", "shared", "link", "new"}
    assert {path.name for path in tmp_path.iterdir()} == {"lab"}
    if ADA is not None:
        assert facts(shared) == (0, ADA.gid, 0o2770)
        assert facts(shared / "below") == (NOBODY, ADA.gid, 0o2775)
        assert facts(shared / "below" / "program") == (NOBODY, ADA.gid, 0o770)
        assert facts(Path("/etc/hostname"))[1] != ADA.gid


@pytest.mark.parametrize("made", [0, 1, 2])
def test_a_move_that_was_interrupted_goes_on(tmp_path: Path, made: int) -> None:
    old_workspace(tmp_path).rename(tmp_path / ".lab.moving")
    if made:
        (tmp_path / "lab").mkdir(0o700)
    if made > 1:
        (tmp_path / "lab").chmod(0o711)
    _, shared = workspaces(tmp_path, "lab", "ada", ADA)
    assert (shared / "below" / "program").read_text() == "program"


@pytest.mark.skipif(not IS_ROOT, reason="privilege: only root gives files away")
def test_files_of_others_are_not_given_away(tmp_path: Path) -> None:
    old = old_workspace(tmp_path)
    others = tmp_path / "others"
    others.write_text("root's")
    os.link(others, old / "linked")
    (old / "roots").write_text("root's")
    (old / "roots").chmod(0o600)
    _, shared = workspaces(tmp_path, "lab", "ada", ADA)
    assert facts(shared / "roots") == (0, 0, 0o600)
    assert facts(others)[1] == 0


@pytest.mark.skipif(not IS_ROOT, reason="privilege: only root gives files away")
def test_a_workspace_of_another_number_is_told(tmp_path: Path) -> None:
    workspaces(tmp_path, "lab", "ada", ADA)
    with pytest.raises(CannotStartError, match="chown -R 450002"):
        workspaces(tmp_path, "lab", "ada", BOB)


def test_a_volume_of_before_stays_where_it_is(tmp_path: Path) -> None:
    volume = tmp_path / "lab" / "data"
    volume.mkdir(parents=True)
    (volume / "file").touch()
    (tmp_path / "lab").chmod(0o700)
    if IS_ROOT:
        for path in (volume.parent, volume, volume / "file"):
            os.chown(path, NOBODY, NOBODY)
    assert tenant_volume(tmp_path, "lab", "data", ADA) == volume
    assert (volume / "file").exists()
    if ADA is not None:
        assert facts(volume) == (0, ADA.gid, 0o2770)
        assert facts(volume / "file")[1] == ADA.gid
