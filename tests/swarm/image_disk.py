"""The disk of an engine that has the images of the catalogue; all engines of a swarm share its layers (see layers.sh).

It is built in steps: it begins as the disk that was used last, and only images that have changed are built on it,
without archives, which take most of the time: a notebook's image has two gigabytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from scripts.images.build import key_of
from scripts.images.engine import BuildError, Engine
from tests.compose.stand_ins import NAMES, put_stand_ins, stand_in_key
from tests.swarm.engine_host import EngineHost
from tests.swarm.image_cache import alone, directory, forget_unused, put
from tests.swarm.keeper import Keeper, group_of_containers

# An image holds the layers of those before it; what differs by engine or installation is not among them.
IMAGES = ("base", "gateway", "mpi", "spark", "jupyter-spark", "server")
# Another checkout with other images may be about to copy its disk; each run marks the one that it uses.
_UNUSED_S = 6 * 3600.0
_BYTES = 12 * 2**30
"""The images that are replaced stay while those instead of them are built on their layers; holes take no room."""
# An engine's own state: its identity, and the networks of its former machine.
_OWN = ("engine-id", "network", "runtimes", "tmp")


def image_disk() -> Path | None:
    """Return its file, made if it does not exist; None where an image cannot be built, which the tests that need it
    report.
    """
    path = directory() / f"disk-{_key()}.ext4"
    with alone():
        if not path.exists():
            try:
                _make(path)
            except BuildError:
                return None
        os.utime(path)
        _forget_others(path)
    return path


def _forget_others(used: Path) -> None:
    """An engine that has one mounted keeps it until it ends."""
    for old in directory().glob("disk-*"):
        if old != used and old.stat().st_mtime < time.time() - _UNUSED_S:
            old.unlink()


def _last() -> Path | None:
    """The disk that was used last, by any checkout."""
    return max(directory().glob("disk-*.ext4"), key=lambda path: path.stat().st_mtime, default=None)


def _key() -> str:
    version = subprocess.run(["dockerd", "--version"], capture_output=True, check=True).stdout
    keys = [*map(key_of, IMAGES), *map(stand_in_key, NAMES)]
    return hashlib.sha256(version + "".join(keys).encode()).hexdigest()[:16]


def _make(path: Path) -> None:
    forget_unused()
    base = Path(tempfile.mkdtemp(prefix="zoe-image-disk-", dir=directory()))
    cgroup = group_of_containers(f"zoe-image-disk-{os.getpid()}")
    keeper = Keeper(base, cgroup)
    host = None
    try:
        host = EngineHost("disk", base, cgroup, own_network=False, disk_bytes=_BYTES, disk=_last())
        host.await_namespaces()
        host.start_engine("--bridge=none", "--iptables=false", "--ip-forward=false")
        host.await_engine()
        engine = Engine({"DOCKER_HOST": f"unix://{host.socket}"})
        for name in IMAGES:
            put(engine, name)
        put_stand_ins(engine)
        engine.run(["docker", "image", "prune", "--force"], "prune-disk")  # replaced images
        host.end_engine()
        for name in _OWN:
            host.inside("rm", "-rf", str(host.base / "data" / name))
        host.inside("fstrim", str(host.base / "data"))
        host.inside("umount", str(host.base / "data"))
        (host.base / "disk").rename(path)
    finally:
        keeper.undo()
        if host is not None:
            host.close()
        shutil.rmtree(base, ignore_errors=True)
