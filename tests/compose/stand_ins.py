"""Images for the compose file: Zoe's own, of the present sources, and stand-ins for public ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

from scripts.images.build import build, key_of
from scripts.images.engine import Engine
from scripts.images.gathering import identity_of
from tests.support.images import engine_of, provide
from tests.swarm.cluster import Cluster

FOLDER = Path(__file__).with_name("images")
NAMES = ("postgres", "prometheus")


def provide_all(swarm: Cluster) -> None:
    """Onto the manager. Zoe's own changes with every line of code, so it is built there and not kept."""
    provide(swarm, "zoe/server")
    engine = engine_of(swarm.manager)
    put_stand_ins(engine)  # they are on the disk of images
    build(engine, "zoe")


def put_stand_ins(engine: Engine) -> None:
    """Into an engine that has zoe/base, unless it has them; BuildError says what failed."""
    for name in NAMES:
        if engine.key(f"zoe-test/{name}") != stand_in_key(name):
            engine.build(FOLDER / name, f"zoe-test/{name}", stand_in_key(name), f"stand-in-{name}")


def stand_in_key(name: str) -> str:
    """A hash of all that it is made of."""
    digest = hashlib.sha256(key_of("base").encode())
    for path in sorted((FOLDER / name).iterdir()):
        digest.update(identity_of(path, path.name))
    return digest.hexdigest()[:16]
