"""Progress files: the master has more read permissions than the user who writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from zoe_master.backends.base import PROGRESS_BYTES_MAX, BackendError
from zoe_master.backends.local.files.progress_files import file_end
from zoe_master.backends.local.settings import LocalSettings


@pytest.fixture
def settings(tmp_path: Path) -> LocalSettings:
    names = ("state_dir", "scratch_dir", "workspaces_dir", "volumes_dir")
    directories = {name: tmp_path / name for name in names}
    for directory in directories.values():
        directory.mkdir()
    (tmp_path / "workspaces_dir" / "acme" / "ada").mkdir(parents=True)
    return LocalSettings(**directories)


@pytest.fixture
def service(settings: LocalSettings) -> Path:
    directory = settings.state_dir / "service"
    directory.mkdir()
    (directory / "start.json").write_text(json.dumps({"work_dir": str(settings.workspaces_dir / "acme" / "ada")}))
    return directory


@pytest.fixture
def home(settings: LocalSettings) -> Path:
    return settings.workspaces_dir / "acme" / "ada"


def test_the_end_of_a_file_is_read(service: Path, settings: LocalSettings, home: Path) -> None:
    (home / "out").mkdir()
    (home / "out" / "progress").write_text("0.25\n0.5\n")
    assert file_end(service, settings, "out/progress") == b"0.25\n0.5\n"
    with (home / "huge").open("wb") as file:  # 10 GB with a hole
        file.seek(10 * 10**9)
        file.write(b"\n0.75\n")
    end = file_end(service, settings, "huge")
    assert len(end) == PROGRESS_BYTES_MAX
    assert end.endswith(b"\n0.75\n")


def test_links_pipes_devices_and_directories_are_not_read(
    service: Path, settings: LocalSettings, home: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("0.5")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "progress").write_text("0.5")
    (home / "link").symlink_to(secret)
    (home / "linked").symlink_to(tmp_path / "outside")
    os.mkfifo(home / "pipe")
    (home / "directory").mkdir()
    (home / "dangling").symlink_to("nowhere")
    (home / "zero").symlink_to("/dev/zero")
    for path in (
        "link",
        "linked/progress",
        "pipe",
        "directory",
        "dangling",
        "zero",
        "none",
        "link/x",
        "../../../secret",
    ):
        with pytest.raises(BackendError) as refused:
            file_end(service, settings, path)
        assert "0.5" not in str(refused.value)


def test_a_workspace_that_becomes_a_link_is_not_followed(
    service: Path, settings: LocalSettings, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "progress").write_text("0.5")
    home.rmdir()
    home.symlink_to(tmp_path)
    with pytest.raises(BackendError):
        file_end(service, settings, "progress")


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a device")
def test_a_device_is_not_read(service: Path, settings: LocalSettings, home: Path) -> None:
    os.mknod(home / "zeros", 0o020666, os.makedev(1, 5))
    with pytest.raises(BackendError, match="regular"):
        file_end(service, settings, "zeros")


def test_a_working_directory_elsewhere_is_refused(service: Path, settings: LocalSettings) -> None:
    (service / "start.json").write_text(json.dumps({"work_dir": "/etc"}))
    with pytest.raises(BackendError, match="not below"):
        file_end(service, settings, "hostname")
    (service / "start.json").write_text("{")
    with pytest.raises(BackendError, match="not below"):
        file_end(service, settings, "hostname")
