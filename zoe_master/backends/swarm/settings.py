"""Settings of the Swarm back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.file_task import FileLimits

_GATEWAY = Resources(50, 64 * 2**20)


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """Sources of packages, and limits of one environment and of all of a user."""

    index_url: str = ""
    wheelhouse: str = ""
    seconds_max: float = 1800.0
    bytes_max: int = 8 * 2**30
    bytes_of_all_max: int = 32 * 2**30
    age_s_max: float = 30 * 86400.0


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Limits of cloning the sources of a component."""

    seconds_max: float = 600.0
    bytes_max: int = 4 * 2**30


@dataclass(frozen=True, slots=True)
class SwarmSettings:
    """Settings of the Swarm back-end.

    managers: URLs of the managers' engines, tried in turn if one does not answer. engines: node name to the URL of its
    engine; other nodes are reached at their own address on `engine_port`. tls_dir: `ca.pem`, `cert.pem` and `key.pem`
    for tcp:// URLs. installation: distinguishes several Zoes on one swarm; part of all labels and names. images: the
    allowed images, names or patterns such as `zoe/*`; a name without a tag stands for all its tags. pull_images: let
    engines pull missing images; otherwise the images must have been loaded. user: one user (uid:gid) for all
    components; if empty, and `tenant_users` names none for their tenant, each runs as `ServiceStart.system_user`.
    workspaces_dir: a path that the admin mounts on every node, with a directory for each tenant. publish_ports: publish
    ports on their node, for a network whose members are all trusted; proxied ports are not published. gateway_image:
    the image of gateways; empty: no gateways, and proxied ports are like any other. gateway_reservation: what each
    reserves on its node. allow_unhardened: use engines that let containers gain privileges, or exceed `ulimits_max`.
    check_closed: check from inside whether containers reach control ports and metadata, and report it for the node.
    ulimits_max: upper bounds of an engine's default limits, by their names for dockerd. fence_command: run with a
    node's name when the node is lost; its services are lost only once it has succeeded. gather_s: how long the first of
    several starts waits for others. look_interval_s, busy_look_interval_s: how often tasks are listed, at rest and
    while services start or stop. copy_interval_s: interval of copying output of running services; longer while nothing
    is printed. place_timeout_s: a task for which Swarm finds no room for this long has failed. files: limits of the
    program that serves a user's files. terminals_host: where terminals listen for the API. terminals_max: maximum open
    at once. environments: sources of packages, and limits. sources: limits of clones.
    """

    state_dir: Path
    managers: tuple[str, ...] = ("unix:///var/run/docker.sock",)
    engines: Mapping[str, str] = field(default_factory=dict)
    engine_port: int = 2376
    tls_dir: Path | None = None
    installation: str = "zoe"
    images: tuple[str, ...] = ("zoe/*",)
    pull_images: bool = False
    user: str = ""
    tenant_users: Mapping[str, str] = field(default_factory=dict)
    workspaces_dir: Path | None = None
    host_paths_allowed: tuple[Path, ...] = ()
    publish_ports: bool = False
    gateway_image: str = "zoe/gateway"
    gateway_reservation: Resources = _GATEWAY
    allow_unhardened: bool = False
    check_closed: bool = True
    ulimits_max: Mapping[str, int] = field(default_factory=lambda: {"nofile": 2**20, "core": 0})
    fence_command: Path | None = None
    fence_timeout_s: float = 60.0
    fence_retry_s: float = 10.0
    processes_max: int = 4096
    output_bytes_max: int = 16 * 2**20
    kept_logs_bytes_max: int = 4 * 2**30
    kept_logs_age_max_s: float = 7 * 86400.0
    workers: int = 8
    gather_s: float = 0.005
    look_interval_s: float = 2.0
    busy_look_interval_s: float = 0.25
    sample_interval_s: float = 5.0
    copy_interval_s: float = 10.0
    engine_timeout_s: float = 10.0
    engine_retry_s: float = 1.0
    place_timeout_s: float = 30.0
    files: FileLimits = field(default_factory=FileLimits)
    terminals_host: str = "127.0.0.1"
    terminals_max: int = 64
    environments: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    sources: SourceSettings = field(default_factory=SourceSettings)

    @property
    def gateway_taken(self) -> Resources:
        """Return the reservation of a gateway; nothing without gateways."""
        return self.gateway_reservation if self.gateway_image else Resources()
