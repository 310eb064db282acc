"""Archives of images, stored under the hash of their inputs, so that only the first run builds."""

from __future__ import annotations

import fcntl
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.images.build import build, key_of, names_of, up_to_date
from scripts.images.engine import Engine, say
from scripts.images.recipes import RECIPES
from tests.swarm.builder import builder

UNUSED_MAX_S = 14 * 86400.0
KEPT_MAX = 3
"""Of each image: several clones may differ, and some change with every edit."""


def directory() -> Path:
    """Beside the wheels of the application runtime."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zoe" / "images"


def archive_of(name: str) -> Path:
    """The archive of an image, from the engine that `docker` speaks to if it has it, else built; or BuildError."""
    path = _path(name)
    if not path.exists():
        with alone():
            if not path.exists():
                _make(name)
    os.utime(path)
    return path


def _path(name: str) -> Path:
    return directory() / f"{name}-{key_of(name)}.tar"


@contextmanager
def alone() -> Iterator[None]:
    """Of several runs at once, one builds and the others wait."""
    directory().mkdir(parents=True, exist_ok=True)
    with (directory() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(name: str) -> None:
    forget_unused()
    usual = Engine()
    if up_to_date(usual, name):
        _save(usual, name)
        return
    with builder() as engine:
        put(engine, name, save=True)


def put(engine: Engine, name: str, save: bool = False) -> None:
    """Load an image into an engine that lacks it: from its archive, from the engine that `docker` speaks to, or built,
    then with an archive if `save`; or BuildError. The caller holds the lock, `alone`.
    """
    if up_to_date(engine, name):
        return
    if not _path(name).exists() and up_to_date(Engine(), name):
        _save(Engine(), name)
    if _path(name).exists():
        load(engine, _path(name))
        os.utime(_path(name))
        return
    base = RECIPES[name].base
    if base is not None:
        put(engine, base, save)
    say(f"zoe/{name}: building for the tests, once")
    build(engine, name)
    if save:
        _save(engine, name)


def _save(engine: Engine, name: str) -> None:
    partial = _path(name).with_suffix(".part")
    engine.run(["docker", "save", "-o", str(partial), *names_of(name)], f"save-{name}")
    partial.rename(_path(name))


def load(engine: Engine, archive: Path) -> None:
    """An archive into an engine, under all the image's names."""
    engine.run(["docker", "load", "-q", "-i", str(archive)], f"load-{archive.stem}")


def forget_unused() -> None:
    """Whatever was not used for long, and all but the newest few of each image."""
    by_image = defaultdict(list)
    for path in directory().glob("*.tar"):
        by_image[path.name.rpartition("-")[0]].append((path.stat().st_mtime, path))
    for archives in by_image.values():
        for position, (used_s, path) in enumerate(sorted(archives, reverse=True)):
            if position >= KEPT_MAX or time.time() - used_s > UNUSED_MAX_S:
                path.unlink(missing_ok=True)
