"""An engine that builds the images of the tests where this machine has none, and is removed completely."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.images.engine import Engine
from tests.swarm.engine_host import EngineHost
from tests.swarm.keeper import Keeper, group_of_containers

DISK_BYTES = 12 * 2**30
"""Of a sparse file."""


@contextmanager
def builder() -> Iterator[Engine]:
    """In this machine's network, of which it changes nothing: no bridge, no firewall rule, no forwarding."""
    base = Path(tempfile.mkdtemp(prefix="zoe-image-builder-"))
    cgroup = group_of_containers(f"zoe-image-builder-{os.getpid()}")
    keeper = Keeper(base, cgroup)
    host = None
    try:
        host = EngineHost("builder", base, cgroup, own_network=False, disk_bytes=DISK_BYTES)
        host.await_namespaces()
        host.start_engine("--bridge=none", "--iptables=false", "--ip-forward=false")
        host.await_engine()
        yield Engine({"DOCKER_HOST": f"unix://{host.socket}"})
    finally:
        keeper.undo()
        if host is not None:
            host.close()
