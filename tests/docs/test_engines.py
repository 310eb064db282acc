"""The table of back-ends says what their capabilities say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.plugins import BACKENDS
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.capabilities import capabilities_of
from zoe_master.backends.local.backend import local_capabilities
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.swarm.settings import SwarmSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operate" / "engines.md"
HERE = Path("unused")
ABLE = {
    "local": local_capabilities(LocalSettings(HERE, HERE, HERE, HERE)),
    "docker": capabilities_of(DockerSettings(HERE, workspaces_dir=HERE)),
    "podman": capabilities_of(DockerSettings(HERE, kind="podman", workspaces_dir=HERE)),
    "swarm": capabilities_of(SwarmSettings(HERE, workspaces_dir=HERE)),
}
WITHOUT_WORKSPACES = {
    "docker": capabilities_of(DockerSettings(HERE)),
    "podman": capabilities_of(DockerSettings(HERE, kind="podman")),
    "swarm": capabilities_of(SwarmSettings(HERE)),
}
ROWS: dict[str, Callable[[BackendCapabilities], bool]] = {
    "secrets as variables": lambda able: able.secret_variables,
    "packages without a wheel (`build_requirements`)": lambda able: able.package_builds,
    "packages (`requirements`)": lambda able: not able.why_no_packages,
    "git repositories (`sources`)": lambda able: not able.why_no_sources,
    "progress files": lambda able: not able.why_no_progress_files,
    "volumes at their `target`": lambda able: bool(able.mount_points),
}


def cells(row: str) -> dict[str, str]:
    """Return the cells of a row, by back-end."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    names = [cell.strip(" `") for cell in lines[0].split("|")[2:-1]]
    [line] = [line for line in lines if line.startswith(f"| {row} |")]
    return dict(zip(names, [cell.strip() for cell in line.split("|")[2:-1]], strict=True))


def test_each_back_end_has_a_column() -> None:
    assert set(cells("progress files")) == BACKENDS == set(ABLE)


@pytest.mark.parametrize("row", ROWS)
def test_a_cell_says_what_the_capabilities_say(row: str) -> None:
    for name, cell in cells(row).items():
        assert ROWS[row](ABLE[name]) == (cell in ("yes", "with workspaces")), name
        if cell == "with workspaces":
            assert not ROWS[row](WITHOUT_WORKSPACES[name]), name
