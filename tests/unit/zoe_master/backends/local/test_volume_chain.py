"""Command lines of volumes, their epochs, and what the kernel says of mounts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zoe_master.backends.local.supervisor.volumes import backing
from zoe_master.backends.local.supervisor.volumes.chain import client_command, rate_text, server_command
from zoe_master.backends.local.supervisor.volumes.mounts import read_mount


def test_a_server_serves_its_epoch_through_its_stack() -> None:
    words = server_command("/v", 7, ["rate=1048576", "luks"], 5)
    assert [word for word in words if word.startswith("--filter=")] == [
        "--filter=exportname", "--filter=rate", "--filter=luks"
    ]  # fmt: skip
    assert {"file=/v/data", "exportname=7", "exportname-strict=true", "rate-file=/v/run/rate", "passphrase=-5"} <= {
        *words
    }
    assert client_command("/v", 7) == ["nbdfuse", "/v/run/disk", "nbd+unix:///7?socket=/v/run/7.sock"]
    assert rate_text(["rate=1048576", "luks"]) == "8388608\n"
    assert rate_text(["luks"]) is None


def test_an_epoch_never_goes_back(tmp_path: Path) -> None:
    backing.enter_epoch(str(tmp_path), 5)
    backing.enter_epoch(str(tmp_path), 5)
    with pytest.raises(backing.VolumeRefused, match="attachment 4 is fenced off"):
        backing.enter_epoch(str(tmp_path), 4)
    assert backing.read_epoch(str(tmp_path)) == 5


def test_a_volume_with_a_server_is_not_removed(tmp_path: Path) -> None:
    place = tmp_path / "v1"
    backing.make(str(place), 1 << 20, [], "")
    assert (place / "data").stat().st_size == 1 << 20
    lock = backing.try_lock(f"{place}/{backing.SERVED}")
    assert lock is not None
    with pytest.raises(backing.VolumeRefused, match="a server of the volume is still running"):
        backing.remove(str(place))
    os.close(lock)
    backing.remove(str(place))
    assert not place.exists()


def test_mounts_are_read_with_spaces() -> None:
    line = r"81 28 7:0 / /a\040b/mount rw,nosuid shared:3 master:1 - ext4 /dev/loop0 rw"
    assert read_mount(line) == ("/a b/mount", "/dev/loop0")
