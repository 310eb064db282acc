"""What a machine must have before something is built."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from zoe_embedded.home import Home
from zoe_embedded.runtimes import needs, runtime
from zoe_embedded.runtimes.needs import MEMCACHED, NeedsError, check

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", by_root=False)


def has_free(monkeypatch: pytest.MonkeyPatch, free_bytes: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 50, 0, free_bytes))


def test_a_machine_that_has_all_is_left_alone(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    has_free(monkeypatch, 1 << 40)
    check(home, spark=False)
    assert not home.path.exists()


def test_all_that_is_missing_is_named_at_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    has_free(monkeypatch, 1 << 30)
    monkeypatch.setattr(needs, "find_program", lambda _: None)
    monkeypatch.setattr(needs, "find_python", lambda *_: Path("/usr/bin/python3.11"))
    monkeypatch.setattr(needs, "_WHEEL_BYTES", 2 << 30)
    with pytest.raises(NeedsError) as raised:
        check(home, [MEMCACHED])
    lines = str(raised.value).splitlines()
    assert lines[0] == "memcached: not installed; apt-get install -y memcached"
    assert lines[1].startswith(f"{home.runtimes}: 1.0 GiB free, 2.5 GiB needed; make room, or set ZOE_RUNTIMES")
    assert lines[2].endswith("set XDG_CACHE_HOME to another disk")


def test_built_runtime_needs_no_space(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (needs, runtime):
        monkeypatch.setattr(module, "find_python", lambda *_: Path("/usr/bin/python3.11"))
    directory = home.runtimes / f"spark-{runtime._recipe().key}"
    directory.mkdir(parents=True)
    (directory / "zoe.stamp").touch()
    has_free(monkeypatch, 1 << 30)
    check(home)
