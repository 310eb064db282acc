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
_PORT = r"(\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])"
_ENDPOINT = re.compile(rf"ipc://.+|tcp://(\[[0-9a-fA-F:.%]+\]|[^\s:/]+):{_PORT}")
_HOST_PATTERN = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?"
Ulimit = Literal["core", "data", "fsize", "memlock", "nofile", "nproc", "stack"]


class NodeSettings(BaseModel):
    """A virtual node of the local back-end."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Name shown in `zoe nodes`.")
    cores: float = Field(gt=0, le=4096, description="Cores that services may reserve on the node.")
    memory_bytes: int = Field(gt=0, description="Memory that services may reserve on the node.")
    labels: dict[str, str] = Field(default={}, description="Labels that components may ask for.")
    devices: dict[str, int] = Field(default={}, description="Number of devices by kind, such as gpu.")


class ImageSettings(BaseModel):
    """The local back-end's substitute for an image: directories for PATH, and variables."""

    model_config = ConfigDict(extra="forbid")

    path: list[str] = Field(description="Directories for PATH.")
    environment: dict[str, str] = Field(
        default={}, description="Environment variables of every service that uses the runtime."
    )


class StorageServiceSettings(BaseModel):
    """A service of the object store, as descriptions name it."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="Swift authentication URL (v1); for the service `s3a`, the S3 endpoint.")
    region: str = Field(default="", description="Swift region; Stocator needs it to find the endpoint.")
    swift_url: str = Field(
        default="",
        description="For a service `s3a` that is the `s3api` of a Swift: authentication URL (v1) of "
        "that Swift. Inputs at `s3a://` then get views, and the credentials of `s3a` are "
        "used to authenticate there, too.",
    )


class Settings(FileSettings):
    """Define every setting with a default that suits one machine; docs/reference/settings.md is generated from this."""

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
    """Settings that most installations change; all others are advanced."""
    model_config = SettingsConfigDict(env_prefix="ZOE_", env_nested_delimiter="__", extra="forbid")

    database_url: SecretStr = Field(
        default=SecretStr("postgresql+psycopg2:///zoe"), description="PostgreSQL URL; may contain a password."
    )
    keys_dir: Path = Field(
        default=Path("/etc/zoe/keys"), description="Directory of the CURVE keys of the master and the API."
    )

    api_host: str = Field(default="127.0.0.1", description="Address that the API listens on.")
    api_port: int = Field(
        default=5100, ge=0, le=65535, description="Port that the API listens on; with 0 the kernel chooses one."
    )
    allowed_hosts: list[str] | None = Field(
        default=None,
        description="Host names that browsers may use for this Zoe. Addresses, `localhost`, the name "
        "of this machine, `public_url` and `apps_domain` are always allowed; an empty "
        "list or `*` allows any name.",
    )
    trusted_proxies: list[str] = Field(
        default=[],
        description="Addresses or networks of trusted proxies, whose `X-Forwarded-*` headers are used.",
    )
    api_body_bytes_max: int = Field(
        default=1 << 20, gt=0, description="Maximum size of a request body; larger ones are refused unread."
    )
    api_connections_max: int = Field(
        default=1000,
        gt=0,
        description="Maximum connections of one API process; lower if the limit on open files does "
        "not allow two files for each, and 128 more.",
    )
    api_connections_of_address_max: int = Field(
        default=250, gt=0, description="Maximum connections from one address, except those in `trusted_proxies`."
    )
    api_streams_of_user_max: int = Field(
        default=100,
        gt=0,
        description="Maximum streams of events and output, and WebSockets of applications, that one "
        "user may have open at one API process.",
    )
    api_streams_of_token_max: int = Field(
        default=50, gt=0, description="Maximum of these that one session or API token may have open."
    )
    api_app_requests_of_user_max: int = Field(
        default=100,
        gt=0,
        description="Maximum concurrent requests of one user to applications at one API process.",
    )
    api_head_timeout_s: float = Field(default=10.0, gt=0, description="Time limit for the head of a request to arrive.")
    api_body_timeout_s: float = Field(
        default=30.0,
        gt=0,
        description="Time limit for the body of a request to arrive; a body that is fast enough may take longer.",
    )
    api_body_bytes_per_s_min: int = Field(
        default=1000, gt=0, description="Average rate at which a body may take longer than `api_body_timeout_s`."
    )
    api_write_timeout_s: float = Field(
        default=60.0,
        gt=0,
        description="Time after which a client that reads nothing of its answer or stream is disconnected.",
    )
    api_page_max: int = Field(default=500, gt=0, description="Maximum entries in one page of a list.")
    api_sse_poll_s: float = Field(
        default=1.0, gt=0, description="Longest pause between reads of the journal for a stream of events."
    )

    apps_domain: str = Field(
        default="apps.localhost",
        pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$",
        description="Domain of running applications; it needs a wildcard DNS record and a certificate.",
    )
    session_lifetime_s: float = Field(default=12 * 3600.0, gt=0, description="How long a browser stays signed in.")
    session_token_lifetime_s_max: float = Field(
        default=365 * 86400.0, gt=0, description="Longest lifetime of an API token that is made in a browser."
    )

    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/]+$",
        description="URL at which browsers reach the API, for OpenID Connect (default: the URL of each request).",
    )
    oidc: dict[str, OidcSettings] = Field(default={}, description="OpenID Connect providers by name.")
    ldap: dict[str, LdapSettings] = Field(default={}, description="LDAP directories by name.")
    sign_in_roles: list[RoleRule] = Field(default=[], description="Maps groups of providers to tenants and roles.")

    master_endpoint: str = Field(
        default="tcp://127.0.0.1:5101",
        max_length=256,
        description="ZeroMQ endpoint that the master binds and the API connects to.",
    )
    master_advertised_endpoint: str = Field(
        default="",
        max_length=256,
        description="ZeroMQ endpoint by which the API reaches this master while it leads; empty: `master_endpoint`, "
        "unless that is all addresses of a machine.",
    )
    master_lease_s: float = Field(
        default=5.0,
        ge=0.5,
        description="A standby master takes over from a leader that has not renewed its lease for this long; the same "
        "for all masters.",
    )
    master_hang_s: float = Field(
        default=60.0, gt=0, description="A leader whose loop has stood still for this long stops renewing its lease."
    )
    master_timeout_s: float = Field(
        default=2.0,
        gt=0,
        description="How long the API waits for the master to receive a question before it asks again.",
    )
    master_attempts_max: int = Field(
        default=3,
        gt=0,
        description="How often the API asks, each time on a new socket; an answer may take the sum of these waits.",
    )
    master_metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of the master's metrics; 0 turns them off."
    )
    master_metrics_host: str = Field(
        default="127.0.0.1", description="Address of the master's metrics; anyone who can reach it can read them."
    )
    master_timer_s: float = Field(
        default=5.0, gt=0, description="Longest pause between ticks, which is how soon foreign use of nodes is noticed."
    )
    master_name: str = Field(
        default_factory=lambda: f"{os.uname().nodename}:{os.getpid()}",
        description="Name of this master in `zoe status` (default: host name and process id).",
    )
    usage_interval_s: float = Field(default=5.0, gt=0, description="Pause between samples of usage and bandwidth.")
    retention_s: float = Field(
        default=90 * 86400.0, gt=0, description="How long ended executions and samples of bandwidth are kept."
    )

    replay_s_max: float = Field(default=300.0, gt=0, description="Time limit of `zoe replay`.")
    replay_cpu_s_max: int = Field(default=240, gt=0, description="Maximum CPU time of a replay, in seconds.")
    replay_memory_bytes_max: int = Field(
        default=2 << 30, gt=0, description="Maximum memory of the process of a replay."
    )

    backend: str = Field(
        default="local",
        max_length=64,
        description="Back-end that runs services: `local`, `swarm`, or the back-end of a plugin by its name.",
    )
    backend_options: dict[str, str] = Field(default={}, description="Settings of the back-end of a plugin.")
    insecure: bool = Field(
        default=False, description="Let the local back-end serve more than one trusted person on loopback."
    )
    local_state_dir: Path = Field(
        default=Path("/var/lib/zoe/state/local"),
        description="Directory for what the local back-end records of services, including logs.",
    )
    local_scratch_dir: Path = Field(
        default=Path("/var/lib/zoe/scratch"),
        description="Directory for the scratch directories of services ({scratch}).",
    )
    local_workspaces_dir: Path = Field(
        default=Path("/var/lib/zoe/workspaces"),
        description="Directory that holds one directory for each tenant ({workspace}).",
    )
    kept_logs_bytes_max: int = Field(
        default=4 << 30,
        ge=0,
        description="Maximum output kept of all ended services together, in bytes; the oldest is removed first, and "
        "each service counts as at least 64 KiB.",
    )
    kept_logs_age_max_s: float = Field(
        default=7 * 86400.0, gt=0, description="How long output is kept after the end of its service."
    )
    local_volumes_dir: Path = Field(
        default=Path("/var/lib/zoe/volumes"), description="Directory for the named volumes of tenants."
    )
    local_log_bytes_max: int = Field(
        default=16 << 20, gt=0, description="Maximum output kept of one service, in bytes."
    )
    local_user: str = Field(default="nobody", description="User that runs components when Zoe runs as root.")
    local_host_paths: list[str] = Field(default=[], description="Host paths that descriptions may mount.")
    local_nodes: list[NodeSettings] = Field(
        default=[], description="Virtual nodes (default: one of the machine's size)."
    )
    local_images: dict[str, ImageSettings] = Field(default={}, description="Runtimes by image name.")

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
        default="65534:65534",
        pattern=r"^\d+:\d+$",
        description="uid:gid of components, unless their tenant has its own.",
    )
    swarm_tenant_users: dict[str, str] = Field(default={}, description="uid:gid of components, by tenant.")
    swarm_workspaces_dir: Path | None = Field(
        default=None,
        description="Directory that the admin mounts on every node; it holds one directory for each tenant.",
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

    storage_url: str | None = Field(
        default=None,
        description="URL of the storage controller, Zoe's own or Crystal's; without one, no bandwidth is guaranteed.",
    )
    storage_token_file: Path | None = Field(
        default=None, description="Token sent to the storage controller as X-Auth-Token."
    )
    storage_owner: str = Field(
        default="zoe",
        pattern=r"^[\w.-]+$",
        description="Identifies this Zoe at the storage controller; each Zoe needs its own.",
    )
    storage_interval_s: float = Field(default=5.0, gt=0, description="Pause between polls of the storage controller.")
    storage_timeout_s: float = Field(default=2.0, gt=0, description="Time limit of one call to the storage controller.")
    storage_view_timeout_s: float = Field(
        default=15.0,
        gt=0,
        description="Time limit for making or measuring a view; after that, jobs read the plain objects.",
    )
    storage_lease_s: float = Field(
        default=120.0, gt=0, description="How long guarantees hold after the master is gone; Zoe's own controller only."
    )
    storage_read_bytes_per_s: int = Field(
        default=0,
        ge=0,
        description="Bandwidth that may be guaranteed for reading if the controller cannot report it (Crystal).",
    )
    storage_write_bytes_per_s: int = Field(
        default=0,
        ge=0,
        description="Bandwidth that may be guaranteed for writing if the controller cannot report it (Crystal).",
    )

    storage_services: dict[str, StorageServiceSettings] = Field(
        default={},
        description="Services by name, as in `swift2d://container.NAME/prefix`; `s3a` is the service of `s3a://` URIs.",
    )
    storage_jars: list[str] = Field(
        default=["/opt/stocator/*"],
        description="Jars that Spark needs for these services: paths on the nodes, or in images.",
    )

    log_format: Literal["json", "console"] = Field(
        default="json", description="Log format: JSON for programs, text for people."
    )
    log_file_bytes_max: int = Field(
        default=10 << 20, gt=0, description="Maximum size of one log file of `make serve` and `make demo`, in bytes."
    )
    log_files_max: int = Field(default=3, gt=0, description="Number of log files kept for each program.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level that is logged."
    )

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, hosts: list[str] | None) -> list[str] | None:
        for host in hosts or ():
            if host != ANY_HOST and not re.fullmatch(_HOST_PATTERN, host):
                raise ValueError(f"{host!r} is not a host name; write it as in example.org, without scheme and port")
        return hosts

    @field_validator("master_endpoint", "master_advertised_endpoint")
    @classmethod
    def _check_endpoint(cls, endpoint: str) -> str:
        if endpoint and not _ENDPOINT.fullmatch(endpoint):
            raise ValueError(f"{endpoint!r} is not a ZeroMQ endpoint; write tcp://HOST:PORT or ipc://PATH")
        return endpoint

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
            ip_network(proxy)  # an invalid name would be trusted for no proxy, without a warning
        return proxies

    @model_validator(mode="after")
    def _check_providers(self) -> Settings:
        names = [*self.oidc, *self.ldap]
        if "local" in names or len(set(names)) != len(names):
            raise ValueError("each provider needs a name of its own, other than `local`")
        unknown = {rule.provider for rule in self.sign_in_roles} - set(names)
        if unknown:
            raise ValueError(f"sign_in_roles refers to unknown providers: {', '.join(sorted(unknown))}")
        return self

    @classmethod
    def from_file(cls, path: Path) -> Settings:
        """Read the settings of a TOML file, and ignore the environment."""
        with path.open("rb") as file:
            return cls(**tomllib.load(file))
