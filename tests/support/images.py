"""Images of the catalogue on the nodes of the test swarm."""

from __future__ import annotations

import os
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
import pytest

from scripts.images import debian
from scripts.images.build import key_of, names_of
from scripts.images.engine import LABEL, BuildError, Engine
from scripts.images.recipes import RECIPES
from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import EngineHost
from tests.swarm.image_cache import archive_of, load


def provide(swarm: Cluster, *images: str) -> None:
    """Load them onto every node that lacks one; where they cannot be built, skip, or fail if everything is required."""
    for name in (name for name in RECIPES if set(names_of(name)) & set(images)):
        key = key_of(name)
        lacking = [host for host in swarm.hosts if not _has(host, name, key)]
        if lacking:
            archive = need_archive(name)
            with ThreadPoolExecutor(len(lacking)) as pool:
                list(pool.map(lambda host, archive=archive: load(engine_of(host), archive), lacking))


def need_archive(name: str) -> Path:
    """Return its archive; an error in a recipe fails, a network error may be a skip."""
    try:
        return archive_of(name)
    except BuildError as error:
        if _network():
            raise
        story = f"missing network: zoe/{name} cannot be built, {debian.mirror()} does not answer"
        if os.environ.get("ZOE_REQUIRE_ALL") == "1":
            raise AssertionError(f"{story}: {error}") from error
        pytest.skip(story)


def _has(host: EngineHost, name: str, key: str) -> bool:
    """Asked without the command `docker`, of which each call would take longer than all that it asks for."""
    try:
        labels = host.api.inspect_image(f"zoe/{name}")["Config"]["Labels"]
    except docker.errors.ImageNotFound:
        return False
    return (labels or {}).get(LABEL) == key


def engine_of(host: EngineHost) -> Engine:
    """For the command `docker`."""
    return Engine({"DOCKER_HOST": f"unix://{host.socket}"})


def _network() -> bool:
    try:
        with urllib.request.urlopen(f"{debian.mirror()}/dists/{debian.SUITE}/Release", timeout=20):
            return True
    except OSError:
        return False
