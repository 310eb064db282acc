"""Directories for components are made in the right place only."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_lib.domain.applications.application import Volume
from zoe_master.backends.local.files.directories import is_safe_name, make_owned, remove
from zoe_master.backends.local.files.volumes import allowed_host_path, working_directory
from zoe_master.backends.services.failures import CannotStartError


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/", "-x", ".hidden", "a\0b", "a b", "ü", "x" * 201, "a\n"])
def test_hostile_names_are_none(name: str, tmp_path: Path) -> None:
    assert not is_safe_name(name)
    with pytest.raises(CannotStartError):
        make_owned(tmp_path, (name,), None)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a", "3f.worker.0.1", "ann@example.org", "A_b-c.9"])
def test_plain_names_are_fine(name: str, tmp_path: Path) -> None:
    made = make_owned(tmp_path, (name, "inner"), None)
    assert made == tmp_path / name / "inner"
    assert made.stat().st_mode & 0o777 == 0o700
    assert make_owned(tmp_path, (name, "inner"), None) == made


def test_links_and_files_in_the_way_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "file").touch()
    for name in ("link", "file"):
        with pytest.raises(CannotStartError, match="is not a directory"):
            make_owned(tmp_path, (name, "x"), None)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    before = open_descriptors()
    for _ in range(10):
        make_owned(tmp_path, ("a", "b"), None)
        with pytest.raises(CannotStartError):
            make_owned(tmp_path, ("a", "b", ".."), None)
        with pytest.raises(CannotStartError):
            make_owned(tmp_path, ("link",), None)
    assert open_descriptors() == before


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_removing_follows_no_links(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    remove(tmp_path / "gone")
    remove(tmp_path / "gone")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept" / "file").exists()


def test_a_host_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CannotStartError, match="does not exist"):
        allowed_host_path(str(tmp_path / "nothing"), [tmp_path])
    with pytest.raises(CannotStartError, match="not on the admin's list"):
        allowed_host_path(str(tmp_path), [])
    assert allowed_host_path(str(tmp_path), [tmp_path]) == tmp_path.resolve()


def test_a_target_of_a_volume_stands_for_its_directory(tmp_path: Path) -> None:
    volumes = {Volume("/data", name="d"): tmp_path / "d"}
    places = (tmp_path / "scratch", tmp_path / "workspace", tmp_path / "shared", volumes)
    assert working_directory("/data", *places) == (tmp_path / "d", True)
    assert working_directory("/data/a/b", *places) == (tmp_path / "d/a/b", True)
    assert working_directory(None, *places) == (tmp_path / "scratch", False)
    assert working_directory("/", *places) == (Path("/"), False)
    for hostile in ("/data/../../etc-not", "/database", "../x"):
        with pytest.raises(CannotStartError):
            working_directory(hostile, *places)
