"""Images of the catalogue on the nodes of the test swarm."""

from __future__ import annotations

import os
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.images import debian
from scripts.images.build import key_of, names_of
from scripts.images.engine import BuildError, Engine
from scripts.images.recipes import RECIPES
from tests.swarm.cluster import Cluster
from tests.swarm.image_cache import archive_of, load


def provide(swarm: Cluster, *images: str) -> None:
    """Onto every node that lacks one; where they cannot be built, a skip, or a failure if everything is required."""
    wanted = {name: need_archive(name) for name in RECIPES if set(names_of(name)) & set(images)}
    engines = [Engine({"DOCKER_HOST": f"unix://{host.socket}"}) for host in swarm.hosts]
    with ThreadPoolExecutor(len(engines)) as pool:
        list(pool.map(lambda engine: _load_missing(engine, wanted), engines))


def need_archive(name: str) -> Path:
    """Its archive; what is wrong with a recipe fails, what is wrong with the network may be a skip."""
    try:
        return archive_of(name)
    except BuildError as error:
        if _network():
            raise
        story = f"missing network: zoe/{name} cannot be built, {debian.mirror()} does not answer"
        if os.environ.get("ZOE_REQUIRE_ALL") == "1":
            raise AssertionError(f"{story}: {error}") from error
        pytest.skip(story)


def _load_missing(engine: Engine, wanted: dict[str, Path]) -> None:
    for name, archive in wanted.items():
        if engine.key(f"zoe/{name}") != key_of(name):
            load(engine, archive)


def _network() -> bool:
    try:
        with urllib.request.urlopen(f"{debian.mirror()}/dists/{debian.SUITE}/Release", timeout=20):
            return True
    except OSError:
        return False
