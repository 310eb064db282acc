"""Settings of the Swarm back-end."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from zoe_lib.settings.file_settings import FileSettings


class SwarmBackendSettings(FileSettings):
    """Managers, gateways and checks of nodes."""

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
    swarm_fence_command: Path | None = Field(
        default=None,
        description="Program that is run with the name of a lost node; its services count as lost "
        "only after it has succeeded.",
    )
    swarm_fence_timeout_s: float = Field(default=60.0, gt=0, description="Time limit of that program.")
