"""Images for tests: built when nothing has them, kept, and a clear word where that cannot be."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from scripts.images import debian
from tests.support import images
from tests.support.swarm import need_swarm
from tests.swarm import image_cache
from tests.swarm.image_cache import archive_of

NOWHERE = "http://127.0.0.1:9/debian"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no engine of this machine."""
    need_swarm()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")


def network() -> str:
    """Bridges, routes, firewall rules and forwarding of this machine, which a builder leaves as they are."""
    links = sorted(
        path.name for path in Path("/sys/class/net").iterdir() if not path.name.startswith(("zoesw", "veth"))
    )
    rules = subprocess.run(["iptables", "-t", "nat", "-S"], capture_output=True, text=True, check=False).stdout
    return f"{links} {rules} {Path('/proc/sys/net/ipv4/ip_forward').read_text()}"


def test_the_first_use_builds_and_the_second_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    before = network()
    built = archive_of("tiny")
    assert network() == before
    monkeypatch.setattr(image_cache, "_make", lambda name: pytest.fail(f"{name} was made again"))
    assert archive_of("tiny") == built
    assert [path.name for path in built.parent.glob("*.part")] == []


def test_old_archives_go_and_the_newest_few_of_each_image_stay() -> None:
    cache = image_cache.directory()
    cache.mkdir(parents=True)
    for name, days in (("mpi-1", 1), ("mpi-2", 2), ("mpi-3", 3), ("mpi-4", 4), ("jupyter-spark-1", 1), ("base-1", 20)):
        (cache / f"{name}.tar").write_bytes(b"old")
        os.utime(cache / f"{name}.tar", (time.time() - days * 86400,) * 2)
    tiny = archive_of("tiny")
    left = {path.stem for path in cache.glob("*.tar")}
    assert left == {"mpi-1", "mpi-2", "mpi-3", "jupyter-spark-1", tiny.stem}


def test_without_a_network_it_is_a_named_skip_or_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_DEBIAN_MIRROR", NOWHERE)
    monkeypatch.delenv("ZOE_REQUIRE_ALL", raising=False)
    story = f"missing network: zoe/base cannot be built, {NOWHERE} does not answer"
    with pytest.raises(pytest.skip.Exception, match=story):
        images.need_archive("base")
    monkeypatch.setenv("ZOE_REQUIRE_ALL", "1")
    with pytest.raises(AssertionError, match=story):
        images.need_archive("base")


def test_what_is_wrong_with_a_recipe_is_never_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "BASE", "Not/A/Name")
    monkeypatch.setattr(debian, "SUITE", "nosuchsuite")
    monkeypatch.setattr(images, "_network", lambda: True)
    with pytest.raises(images.BuildError):
        images.need_archive("base")
