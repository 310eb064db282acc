"""Settings of the back-ends that run containers: Docker Swarm, and the engine of one machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from zoe_lib.settings.file_settings import FileSettings

Ulimit = Literal["core", "data", "fsize", "memlock", "nofile", "nproc", "stack"]
FORMER_NAMES: Mapping[str, str] = {
    f"swarm_{name}": f"engine_{name}"
    for name in (
        *("installation", "state_dir", "images", "pull_images", "user", "tenant_users", "workspaces_dir"),
        *("host_paths", "ulimits_max", "log_bytes_max", "processes_max"),
    )
}
"""Names of these settings up to version 1.0, when only Docker Swarm had them."""


class EngineBackendSettings(FileSettings):
    """The engine of this machine, and images, users, directories and limits of containers."""

    engine_url: str = Field(
        default="",
        description="Unix socket of the engine of the back-end `docker`, such as `unix:///var/run/docker.sock` "
        "(default: as Docker's own client chooses: DOCKER_HOST, then the context, then this socket).",
    )
    engine_installation: str = Field(
        default="zoe", min_length=1, description="Identifies this Zoe where several share one engine or swarm."
    )
    engine_state_dir: Path = Field(
        default=Path("/var/lib/zoe/state/swarm"),
        description="Directory for kept output and for the few facts that no engine keeps.",
    )
    engine_images: list[str] = Field(
        default=["zoe/*"], description="Images that may run, as names or patterns; `*` stops at `/`, `**` does not."
    )
    engine_pull_images: bool = Field(default=False, description="Let engines pull allowed images that they lack.")
    engine_user: str = Field(
        default="",
        pattern=r"^(\d+:\d+)?$",
        description="One uid:gid for all components on Docker Swarm (default: one uid for each user of Zoe, and one "
        "gid for each tenant, so that programs cannot read other users' files).",
    )
    engine_tenant_users: dict[str, str] = Field(
        default={}, description="One uid:gid for all components of a tenant on Docker Swarm, by tenant."
    )
    engine_workspaces_dir: Path | None = Field(
        default=None,
        description="Directory that holds one directory for each tenant, and in it one for each user ({workspace}) and "
        "one for all of them ({shared}). On Docker Swarm, the admin mounts it on every node.",
    )
    engine_host_paths: list[str] = Field(default=[], description="Host paths that descriptions may mount.")
    engine_ulimits_max: dict[Ulimit, int] = Field(
        default={"nofile": 1 << 20, "core": 0},
        description="Highest ulimits of containers; on Docker Swarm, the highest default ulimits of engines.",
    )
    engine_log_bytes_max: int = Field(
        default=16 << 20, gt=0, description="Maximum output kept of one service, in bytes."
    )
    engine_processes_max: int = Field(default=4096, gt=0, description="Maximum processes and threads of one service.")
