"""The back-ends `docker` and `podman` under `make serve`: their settings in a home, and the check of their engine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from zoe_embedded.home import Home

ENGINES = ("docker", "podman")


def check_engine_of(backend: str, given: Mapping[str, object]) -> str:
    """Return a sentence on limits that the engine does not hold, or nothing. Raises BackendError if it is of no use."""
    # Imported only if it is used: Docker's client takes almost as long to load as the rest of the master.
    from zoe_master.backends.docker.connection import examine_engine
    from zoe_master.backends.docker.finding import find_engine

    return examine_engine(find_engine(str(given.get("engine_url", "")), backend)).why_unheld


def settings_of_engine(backend: str, home: Home) -> dict[str, object]:
    """Return the settings of the engine: any image, and directories in the home, which the local back-end has, too.

    The installation is named by the home, since other homes may use the same engine.
    """
    return {
        "engine_installation": f"zoe-{hashlib.sha256(str(home.path).encode()).hexdigest()[:12]}",
        "engine_state_dir": str(home.state / backend),
        "engine_workspaces_dir": str(home.workspaces),
        "engine_images": ["**"],
        "engine_pull_images": True,
    }
