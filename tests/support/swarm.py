"""The test swarm, where this machine can have one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.needs import need_program, need_root
from tests.swarm.cluster import Cluster
from tests.swarm.image_disk import image_disk

PROGRAMS = (
    "dockerd",
    "docker-init",
    "ip",
    "nsenter",
    "unshare",
    "setpriv",
    "mkfs.ext4",
    "openssl",
    "busybox",
    "haproxy",
)
_CAP_SYS_ADMIN = 21


def need_swarm() -> None:
    """Skip, with a reason, where no engines can run in namespaces of their own."""
    need_root()
    status = Path("/proc/self/status").read_text().splitlines()
    capabilities = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff"))
    if not capabilities >> _CAP_SYS_ADMIN & 1:
        pytest.skip("missing privilege: namespaces and mounts")
    if not Path("/dev/loop-control").exists():
        pytest.skip("missing privilege: loop devices")
    for program in PROGRAMS:
        need_program(program)


@pytest.fixture(scope="session")
def swarm() -> Iterator[Cluster]:
    need_swarm()
    cluster = Cluster(images=image_disk())
    yield cluster
    cluster.remove()
