"""Settings of all back-ends that run services in containers of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zoe_master.backends.file_task import FileLimits


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
class EngineSettings:
    """Settings of a back-end that runs containers.

    installation: distinguishes several Zoes on one engine; part of all labels and names. tls_dir: `ca.pem`, `cert.pem`
    and `key.pem` for tcp:// URLs. images: the allowed images, names or patterns such as `zoe/*`; a name without a tag
    stands for all its tags. pull_images: let engines pull missing images; otherwise the images must have been loaded.
    built_images: images that are never pulled, since they are built here.
    user: one user (uid:gid) for all components; if empty, and `tenant_users` names none for their tenant, each runs as
    `ServiceStart.system_user`. workspaces_dir: a path that the admin mounts on every node, with a directory for each
    tenant. gateway_image: the image of Zoe's own programs, such as gateways. allow_unhardened: use engines that let
    containers gain privileges, or exceed `ulimits_max`. ulimits_max: upper bounds of an engine's default limits, by
    their names for dockerd. look_interval_s, busy_look_interval_s: how often tasks are listed, at rest and while
    services start or stop. copy_interval_s: interval of copying output of running services; longer while nothing is
    printed. files: limits of the program that serves a user's files. terminals_host: where terminals listen for the
    API. terminals_max: maximum open at once. environments: sources of packages, and limits. sources: limits of clones.
    why_unheld: why limits are not held here; empty if they are.
    """

    state_dir: Path
    installation: str = "zoe"
    tls_dir: Path | None = None
    images: tuple[str, ...] = ("zoe/*",)
    pull_images: bool = False
    built_images: tuple[str, ...] = ()
    user: str = ""
    tenant_users: Mapping[str, str] = field(default_factory=dict)
    workspaces_dir: Path | None = None
    host_paths_allowed: tuple[Path, ...] = ()
    gateway_image: str = "zoe/gateway"
    allow_unhardened: bool = False
    ulimits_max: Mapping[str, int] = field(default_factory=lambda: {"nofile": 2**20, "core": 0})
    processes_max: int = 4096
    output_bytes_max: int = 16 * 2**20
    kept_logs_bytes_max: int = 4 * 2**30
    kept_logs_age_max_s: float = 7 * 86400.0
    workers: int = 8
    look_interval_s: float = 2.0
    busy_look_interval_s: float = 0.25
    sample_interval_s: float = 5.0
    copy_interval_s: float = 10.0
    engine_timeout_s: float = 10.0
    engine_retry_s: float = 1.0
    files: FileLimits = field(default_factory=FileLimits)
    terminals_host: str = "127.0.0.1"
    terminals_max: int = 64
    why_unheld: str = ""
    environments: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    sources: SourceSettings = field(default_factory=SourceSettings)
