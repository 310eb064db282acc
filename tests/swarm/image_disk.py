"""The disk of an engine that has the images of the catalogue: each engine begins with a copy of it.

Loading the archives into each engine would take many times as long.
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
from tests.swarm.engine_host import EngineHost
from tests.swarm.image_cache import alone, archive_of, directory, load
from tests.swarm.keeper import Keeper

# An image holds the layers of those before it; what differs by engine or installation is not among them.
IMAGES = ("base", "gateway", "mpi", "spark", "jupyter-spark")
# Another checkout with other images may be about to copy its disk; each run marks the one that it uses.
_UNUSED_S = 6 * 3600.0
# What is an engine's own: its identity, and the networks of the machine it was on.
_OWN = ("engine-id", "network", "runtimes", "tmp")


def image_disk() -> Path | None:
    """Its file, made if it is not there; None where an image cannot be built, which tests that need it tell."""
    try:
        archives = [archive_of(name) for name in IMAGES]
    except BuildError:
        return None
    path = directory() / f"disk-{_key()}.ext4"
    with alone():
        if not path.exists():
            for old in directory().glob("disk-*"):
                if old.stat().st_mtime < time.time() - _UNUSED_S:
                    old.unlink()
            _make(archives, path)
    os.utime(path)
    return path


def _key() -> str:
    version = subprocess.run(["dockerd", "--version"], capture_output=True, check=True).stdout
    return hashlib.sha256(version + "".join(map(key_of, IMAGES)).encode()).hexdigest()[:16]


def _make(archives: list[Path], path: Path) -> None:
    base = Path(tempfile.mkdtemp(prefix="zoe-image-disk-"))
    cgroup = f"zoe-image-disk-{os.getpid()}"
    keeper = Keeper(base, cgroup)
    host = None
    try:
        host = EngineHost("disk", base, f"/{cgroup}", own_network=False)
        host.await_namespaces()
        host.start_engine("--bridge=none", "--iptables=false", "--ip-forward=false")
        host.await_engine()
        for archive in archives:
            load(Engine({"DOCKER_HOST": f"unix://{host.socket}"}), archive)
        host.end_engine()
        for name in _OWN:
            host.inside("rm", "-rf", str(host.base / "data" / name))
        host.inside("umount", str(host.base / "data"))
        partial = path.with_suffix(".part")
        subprocess.run(["cp", "--sparse=always", host.base / "disk", partial], check=True)
        partial.rename(path)
    finally:
        keeper.undo()
        if host is not None:
            host.close()
        shutil.rmtree(base, ignore_errors=True)
