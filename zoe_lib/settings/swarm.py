"""Settings of the Swarm back-end."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from zoe_lib.settings.file_settings import FileSettings

Ulimit = Literal["core", "data", "fsize", "memlock", "nofile", "nproc", "stack"]


class SwarmBackendSettings(FileSettings):
    """Engines, images, users, gateways and checks of nodes."""

    swarm_managers: list[str] = Field(
        default=["unix:///var/run/docker.sock"], description="Engines of the swarm's managers, tried in turn."
    )
    swarm_engines: dict[str, str] = Field(
        default={},
        description="URL of a node's engine, by host name; all other engines are reached at "
        "their node's address, with TLS.",
    )
    swarm_engine_port: int = Field(
        default=2376, gt=0, le=65535, description="Port of engines that are not named above."
    )
    swarm_tls_dir: Path | None = Field(
        default=None, description="Directory with ca.pem, cert.pem and key.pem for tcp:// engines."
    )
    swarm_installation: str = Field(
        default="zoe", min_length=1, description="Identifies this Zoe where several share one swarm."
    )
    swarm_state_dir: Path = Field(
        default=Path("/var/lib/zoe/state/swarm"),
        description="Directory for kept output and for the few facts that no engine keeps.",
    )
    swarm_images: list[str] = Field(
        default=["zoe/*"], description="Images that may run, as names or patterns; `*` stops at `/`, `**` does not."
    )
    swarm_pull_images: bool = Field(default=False, description="Let nodes pull allowed images that they lack.")
    swarm_user: str = Field(
        default="",
        pattern=r"^(\d+:\d+)?$",
        description="One uid:gid for all components (default: one uid for each user of Zoe, and one gid for each "
        "tenant, so that programs cannot read other users' files).",
    )
    swarm_tenant_users: dict[str, str] = Field(
        default={}, description="One uid:gid for all components of a tenant, by tenant."
    )
    swarm_workspaces_dir: Path | None = Field(
        default=None,
        description="Directory that the admin mounts on every node; it holds one directory for each tenant, and in it "
        "one for each user ({workspace}) and one for all of them ({shared}).",
    )
    swarm_host_paths: list[str] = Field(default=[], description="Host paths that descriptions may mount.")
    swarm_publish_ports: bool = Field(
        default=False,
        description="Publish ports that are not proxied on their node; only for networks of trusted machines.",
    )
    swarm_gateway_image: str = Field(
        default="zoe/gateway", description="Image of the gateways to proxied ports; if empty, there are no gateways."
    )
    swarm_gateway_cores: float = Field(default=0.05, ge=0, description="Cores reserved for each gateway.")
    swarm_gateway_memory_bytes: int = Field(
        default=64 << 20, gt=0, description="Memory reserved for each gateway, and its limit."
    )
    swarm_allow_unhardened: bool = Field(
        default=False,
        description="Accept engines without --no-new-privileges or with looser default ulimits, unchecked.",
    )
    swarm_check_closed: bool = Field(
        default=True,
        description="Check whether containers reach control ports and metadata services; `zoe nodes` shows the result.",
    )
    swarm_ulimits_max: dict[Ulimit, int] = Field(
        default={"nofile": 1 << 20, "core": 0}, description="Highest default ulimits that an engine may have."
    )
    swarm_fence_command: Path | None = Field(
        default=None,
        description="Program that is run with the name of a lost node; its services count as lost "
        "only after it has succeeded.",
    )
    swarm_fence_timeout_s: float = Field(default=60.0, gt=0, description="Time limit of that program.")
    swarm_log_bytes_max: int = Field(
        default=16 << 20, gt=0, description="Maximum output kept of one service, in bytes."
    )
    swarm_processes_max: int = Field(default=4096, gt=0, description="Maximum processes and threads of one service.")
