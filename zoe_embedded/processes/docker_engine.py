"""The back-end `docker` under `make serve`: its settings in a home, and the check of its engine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from zoe_embedded.home import Home

DOCKER = "docker"


def check_docker(given: Mapping[str, object]) -> None:
    """Raise BackendError, with a sentence, if the engine of this machine cannot be used."""
    # Imported only if it is used: Docker's client takes almost as long to load as the rest of the master.
    from zoe_master.backends.docker.connection import check_engine, engine_url, open_engine

    url = engine_url(str(given.get("engine_url", "")))
    check_engine(url)
    open_engine(url).close()


def docker_settings(home: Home) -> dict[str, object]:
    """Return the settings of the engine: any image, and directories in the home, which the local back-end has, too.

    The installation is named by the home, since other homes may use the same engine.
    """
    return {
        "engine_installation": f"zoe-{hashlib.sha256(str(home.path).encode()).hexdigest()[:12]}",
        "engine_state_dir": str(home.state / "docker"),
        "engine_workspaces_dir": str(home.workspaces),
        "engine_images": ["**"],
        "engine_pull_images": True,
    }
