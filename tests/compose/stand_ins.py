"""Images for the compose file: Zoe's own, of the present sources, and stand-ins for public ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from scripts.images.build import build, key_of
from scripts.images.engine import Engine
from scripts.images.gathering import identity_of
from tests.support.images import need_archive
from tests.swarm.builder import builder
from tests.swarm.engine_host import EngineHost
from tests.swarm.image_cache import alone, directory, load

FOLDER = Path(__file__).with_name("images")
NAMES = ("postgres", "prometheus")


def provide_all(host: EngineHost) -> None:
    """Onto one engine. Zoe's own changes with every line of code, so it is built there and not kept."""
    engine = Engine({"DOCKER_HOST": f"unix://{host.socket}"})
    for archive in (need_archive("server"), *_archives(need_archive("base"))):
        load(engine, archive)
    build(engine, "zoe")


def _archives(base: Path) -> list[Path]:
    paths = {name: directory() / f"{name}-{_key(name)}.tar" for name in NAMES}
    with alone():
        missing = [name for name in NAMES if not paths[name].exists()]
        if missing:
            with builder() as engine:
                load(engine, base)
                for name in missing:
                    _make(engine, name, paths[name])
    for path in paths.values():
        os.utime(path)
    return list(paths.values())


def _make(engine: Engine, name: str, path: Path) -> None:
    engine.build(FOLDER / name, f"zoe-test/{name}", _key(name), f"stand-in-{name}")
    partial = path.with_suffix(".part")
    engine.run(["docker", "save", "-o", str(partial), f"zoe-test/{name}"], f"save-{name}")
    partial.rename(path)


def _key(name: str) -> str:
    digest = hashlib.sha256(key_of("base").encode())
    for path in sorted((FOLDER / name).iterdir()):
        digest.update(identity_of(path, path.name))
    return digest.hexdigest()[:16]
