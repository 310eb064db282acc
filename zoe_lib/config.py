"""Settings of all processes: environment variables with the prefix ZOE_, or the TOML file that ZOE_CONFIG names."""

from __future__ import annotations

import os
import re
import tomllib
from ipaddress import ip_network
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from zoe_lib.file_settings import FileSettings
from zoe_lib.plugins import BACKENDS, PluginKind, usable_names
from zoe_lib.sign_in_settings import LdapSettings, OidcSettings, RoleRule

ANY_HOST = "*"
_HOST_PATTERN = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?"
Ulimit = Literal["core", "data", "fsize", "memlock", "nofile", "nproc", "stack"]


class NodeSettings(BaseModel):
    """A virtual node of the local back-end."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Its name in `zoe nodes`.")
    cores: float = Field(gt=0, le=4096, description="Cores that may be reserved on it.")
    memory_bytes: int = Field(gt=0, description="Memory that may be reserved on it.")
    labels: dict[str, str] = Field(default={}, description="Labels that components may ask for.")
    devices: dict[str, int] = Field(default={}, description="Devices by kind, such as gpu, and how many.")


class ImageSettings(BaseModel):
    """What stands for an image on the local back-end: directories for PATH, and variables."""

    model_config = ConfigDict(extra="forbid")

    path: list[str] = Field(description="Directories for PATH.")
    environment: dict[str, str] = Field(default={}, description="Variables for every service that uses it.")


class StorageServiceSettings(BaseModel):
    """A service of the object store, as descriptions name it."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="Swift's authentication (v1), or the endpoint of the service `s3a`.")
    region: str = Field(default="", description="Swift's region; Stocator finds no endpoint without.")
    swift_url: str = Field(
        default="",
        description="For the service `s3a`, if it is the `s3api` of a Swift: that Swift's authentication (v1). Inputs "
        "by `s3a://` get views then, and the credentials of `s3a` sign in there, too.",
    )


class Settings(FileSettings):
    """Every setting has a default that is right for one machine; docs/reference/settings.md is made from this."""

    file_variable: ClassVar[str] = "ZOE_CONFIG"
    basic: ClassVar[tuple[str, ...]] = (
        "database_url",
        "keys_dir",
        "api_host",
        "api_port",
        "public_url",
        "apps_domain",
        "backend",
        "local_nodes",
        "local_images",
        "swarm_managers",
        "swarm_images",
        "swarm_workspaces_dir",
        "storage_url",
        "storage_services",
    )
    """What most installations set; all else is advanced."""
    model_config = SettingsConfigDict(env_prefix="ZOE_", env_nested_delimiter="__", extra="forbid")

    database_url: SecretStr = Field(
        default=SecretStr("postgresql+psycopg2:///zoe"), description="Where PostgreSQL is; may hold a password."
    )
    keys_dir: Path = Field(default=Path("/etc/zoe/keys"), description="CURVE keys of the master and the API.")

    api_host: str = Field(default="127.0.0.1", description="Address the API listens on.")
    api_port: int = Field(default=5100, ge=0, le=65535, description="Port the API listens on; 0 asks the kernel.")
    allowed_hosts: list[str] | None = Field(
        default=None,
        description="Names by which browsers may ask for this Zoe, beside addresses, `localhost`, the name of this "
        "machine, `public_url` and `apps_domain`, which always may; an empty list or `*`: any.",
    )
    trusted_proxies: list[str] = Field(
        default=[],
        description="Addresses or networks of proxies; what they say of the browser (`X-Forwarded-*`) is believed.",
    )
    api_body_bytes_max: int = Field(default=1 << 20, gt=0, description="Larger request bodies are refused unread.")
    api_connections_max: int = Field(
        default=1000,
        gt=0,
        description="Most connections of one API process; fewer where it may not open two files for each, and 128.",
    )
    api_connections_of_address_max: int = Field(
        default=250, gt=0, description="Most of them from one address, unless it is one of `trusted_proxies`."
    )
    api_streams_of_user_max: int = Field(
        default=100,
        gt=0,
        description="Most streams of events and output, and WebSockets of applications, that one user has open at one "
        "API process.",
    )
    api_streams_of_token_max: int = Field(
        default=50, gt=0, description="Most of them that one session or API token has open."
    )
    api_app_requests_of_user_max: int = Field(
        default=100,
        gt=0,
        description="Most requests of one user to applications that are under way at one API process.",
    )
    api_head_timeout_s: float = Field(
        default=10.0, gt=0, description="How long the head of a request may take to come."
    )
    api_body_timeout_s: float = Field(
        default=30.0,
        gt=0,
        description="How long the body of a request may take; longer if it comes fast enough.",
    )
    api_body_bytes_per_s_min: int = Field(
        default=1000, gt=0, description="As fast as this, on average, a body may take longer than `api_body_timeout_s`."
    )
    api_write_timeout_s: float = Field(
        default=60.0,
        gt=0,
        description="How long a client may take nothing of an answer or stream that waits for it; then it is ended.",
    )
    api_page_max: int = Field(default=500, gt=0, description="Most entries of one page of a list.")
    api_sse_poll_s: float = Field(default=1.0, gt=0, description="Slowest look at the journal for a stream of events.")

    apps_domain: str = Field(
        default="apps.localhost",
        pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$",
        description="Names below it lead to running applications; they need a wildcard in DNS, and a certificate.",
    )
    session_lifetime_s: float = Field(default=12 * 3600.0, gt=0, description="How long a browser stays signed in.")
    session_token_lifetime_s_max: float = Field(
        default=365 * 86400.0, gt=0, description="Longest life of an API token that is made in a browser."
    )

    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/]+$",
        description="How browsers reach the API, for OpenID Connect; none: as each of them asked.",
    )
    oidc: dict[str, OidcSettings] = Field(default={}, description="OpenID Connect providers by name.")
    ldap: dict[str, LdapSettings] = Field(default={}, description="LDAP directories by name.")
    sign_in_roles: list[RoleRule] = Field(
        default=[], description="Rules that map groups of providers to tenants and roles."
    )

    master_endpoint: str = Field(
        default="tcp://127.0.0.1:5101", description="ZeroMQ endpoint that the master binds and the API connects to."
    )
    master_timeout_s: float = Field(
        default=2.0,
        gt=0,
        description="How long the API waits for the master to receive a question, before it asks again.",
    )
    master_attempts_max: int = Field(
        default=3,
        gt=0,
        description="How often the API asks, with a fresh socket each; an answer may take all their time together.",
    )
    master_metrics_port: int = Field(default=0, ge=0, le=65535, description="Port of the master's metrics; 0: none.")
    master_metrics_host: str = Field(
        default="127.0.0.1", description="Address of the master's metrics; anybody who reaches it may read them."
    )
    master_timer_s: float = Field(
        default=5.0, gt=0, description="Longest pause between ticks: how fast foreign use of nodes is seen."
    )
    master_name: str = Field(
        default_factory=lambda: f"{os.uname().nodename}:{os.getpid()}",
        description="How this master calls itself in `zoe status`; default: host and process id.",
    )
    usage_interval_s: float = Field(default=5.0, gt=0, description="Pause between samples of usage and bandwidth.")
    retention_s: float = Field(
        default=90 * 86400.0, gt=0, description="How long ended executions are kept, and samples of bandwidth."
    )

    replay_s_max: float = Field(default=300.0, gt=0, description="How long `zoe replay` may take.")
    replay_cpu_s_max: int = Field(default=240, gt=0, description="Most CPU time of a replay, in seconds.")
    replay_memory_bytes_max: int = Field(default=2 << 30, gt=0, description="Most memory of a replay's process.")

    backend: str = Field(
        default="local",
        max_length=64,
        description="What runs services: `local`, `swarm`, or the back-end of a plugin by its name.",
    )
    backend_options: dict[str, str] = Field(
        default={}, description="Settings of a plugin's back-end, which reads them."
    )
    insecure: bool = Field(
        default=False, description="Let the local back-end run for more than one trusted person on loopback."
    )
    local_state_dir: Path = Field(
        default=Path("/var/lib/zoe/state/local"), description="What the local back-end remembers of services; logs too."
    )
    local_scratch_dir: Path = Field(
        default=Path("/var/lib/zoe/scratch"), description="Throw-away directories of services ({scratch})."
    )
    local_workspaces_dir: Path = Field(
        default=Path("/var/lib/zoe/workspaces"), description="A directory for each tenant ({workspace})."
    )
    local_volumes_dir: Path = Field(default=Path("/var/lib/zoe/volumes"), description="Named volumes of tenants.")
    local_log_bytes_max: int = Field(default=16 << 20, gt=0, description="Most bytes kept of one service's output.")
    local_user: str = Field(default="nobody", description="Who runs components when Zoe is root.")
    local_host_paths: list[str] = Field(default=[], description="Host paths that descriptions may mount.")
    local_nodes: list[NodeSettings] = Field(default=[], description="Virtual nodes; none: one of the machine's size.")
    local_images: dict[str, ImageSettings] = Field(default={}, description="Runtimes by image name.")

    swarm_managers: list[str] = Field(
        default=["unix:///var/run/docker.sock"], description="Engines of the swarm's managers, asked in turn."
    )
    swarm_engines: dict[str, str] = Field(
        default={}, description="URL of a node's engine, by host name; others are asked at their address, with TLS."
    )
    swarm_engine_port: int = Field(default=2376, gt=0, le=65535, description="Port of engines not named above.")
    swarm_tls_dir: Path | None = Field(default=None, description="ca.pem, cert.pem and key.pem for tcp:// engines.")
    swarm_installation: str = Field(default="zoe", min_length=1, description="Tells Zoes on one swarm apart.")
    swarm_state_dir: Path = Field(
        default=Path("/var/lib/zoe/state/swarm"), description="Kept output, and the little that no engine keeps."
    )
    swarm_images: list[str] = Field(
        default=["zoe/*"], description="Images that may run: names or patterns; `*` stops at `/`, `**` does not."
    )
    swarm_pull_images: bool = Field(default=False, description="Let nodes fetch allowed images that they lack.")
    swarm_user: str = Field(
        default="65534:65534", pattern=r"^\d+:\d+$", description="uid:gid of components, unless their tenant has one."
    )
    swarm_tenant_users: dict[str, str] = Field(default={}, description="uid:gid of a tenant's components.")
    swarm_workspaces_dir: Path | None = Field(
        default=None, description="Mounted on every node by the admin; holds a directory for each tenant."
    )
    swarm_host_paths: list[str] = Field(default=[], description="Host paths that descriptions may mount.")
    swarm_publish_ports: bool = Field(
        default=False,
        description="Publish ports that are not proxied on their node; for a network of trusted machines only.",
    )
    swarm_gateway_image: str = Field(
        default="zoe/gateway", description="What gateways to proxied ports run; empty: there are none."
    )
    swarm_gateway_cores: float = Field(default=0.05, ge=0, description="Cores reserved for each gateway.")
    swarm_gateway_memory_bytes: int = Field(
        default=64 << 20, gt=0, description="Memory reserved for each gateway, and its limit."
    )
    swarm_allow_unhardened: bool = Field(
        default=False, description="Use engines without --no-new-privileges or with looser default ulimits; unchecked."
    )
    swarm_check_closed: bool = Field(
        default=True, description="Look whether containers reach control ports and metadata; `zoe nodes` says which."
    )
    swarm_ulimits_max: dict[Ulimit, int] = Field(
        default={"nofile": 1 << 20, "core": 0}, description="The most that an engine's default ulimits may allow."
    )
    swarm_fence_command: Path | None = Field(
        default=None,
        description="Program run with the name of a lost node; its services count as lost only once it has succeeded.",
    )
    swarm_fence_timeout_s: float = Field(default=60.0, gt=0, description="How long that program may take.")
    swarm_log_bytes_max: int = Field(default=16 << 20, gt=0, description="Most bytes kept of one service's output.")
    swarm_processes_max: int = Field(default=4096, gt=0, description="Most processes and threads of one service.")

    storage_url: str | None = Field(
        default=None, description="Storage controller, our own or Crystal's; none: no bandwidth is promised."
    )
    storage_token_file: Path | None = Field(default=None, description="What is sent to it as X-Auth-Token.")
    storage_owner: str = Field(
        default="zoe", pattern=r"^[\w.-]+$", description="Marks what is this Zoe's there; several Zoes need several."
    )
    storage_interval_s: float = Field(default=5.0, gt=0, description="Pause between looks at the controller.")
    storage_timeout_s: float = Field(default=2.0, gt=0, description="How long one call to it may take.")
    storage_view_timeout_s: float = Field(
        default=15.0, gt=0, description="How long it may make or measure a view; then jobs read the plain objects."
    )
    storage_lease_s: float = Field(
        default=120.0, gt=0, description="How long promises hold after the master is gone; our own controller only."
    )
    storage_read_bytes_per_s: int = Field(
        default=0, ge=0, description="What may be promised for reading where the controller cannot tell (Crystal)."
    )
    storage_write_bytes_per_s: int = Field(default=0, ge=0, description="The same for writing.")

    storage_services: dict[str, StorageServiceSettings] = Field(
        default={},
        description="Services by name, as in `swift2d://container.NAME/prefix`; `s3a` is the one of `s3a://` URIs.",
    )
    storage_jars: list[str] = Field(
        default=["/opt/stocator/*"], description="Jars that Spark needs for them: paths on the nodes, or in images."
    )

    log_format: Literal["json", "console"] = Field(default="json", description="For programs or for people.")
    log_file_bytes_max: int = Field(
        default=10 << 20, gt=0, description="Most bytes of a log file of `make serve` and `make demo`."
    )
    log_files_max: int = Field(default=3, gt=0, description="How many such files are kept of each program.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Least level logged.")

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, hosts: list[str] | None) -> list[str] | None:
        for host in hosts or ():
            if host != ANY_HOST and not re.fullmatch(_HOST_PATTERN, host):
                raise ValueError(f"{host!r} is no name of a host; write it as in example.org, without scheme and port")
        return hosts

    @field_validator("backend")
    @classmethod
    def _check_backend(cls, name: str) -> str:
        if name not in BACKENDS and name not in (names := usable_names(PluginKind.BACKEND)):
            raise ValueError(f"back-end {name!r} is not installed; there are: {', '.join(sorted(names))}")
        return name

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, proxies: list[str]) -> list[str]:
        for proxy in proxies:
            ip_network(proxy)  # what is none would be believed of nobody, in silence
        return proxies

    @model_validator(mode="after")
    def _check_providers(self) -> Settings:
        names = [*self.oidc, *self.ldap]
        if "local" in names or len(set(names)) != len(names):
            raise ValueError("providers need names of their own, other than `local`")
        unknown = {rule.provider for rule in self.sign_in_roles} - set(names)
        if unknown:
            raise ValueError(f"sign_in_roles names providers that are not there: {', '.join(sorted(unknown))}")
        return self

    @classmethod
    def from_file(cls, path: Path) -> Settings:
        """The settings of a TOML file, whatever the environment says."""
        with path.open("rb") as file:
            return cls(**tomllib.load(file))
