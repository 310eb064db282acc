"""Settings of the controller: environment variables with the prefix ZOE_SDS_, or the file that ZOE_SDS_CONFIG names."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_settings import SettingsConfigDict

from storage_controller.dialects import SpokenDialect
from zoe_lib.settings.database_url import DEFAULT_URL, DatabaseUrl
from zoe_lib.settings.file_settings import FileSettings

CORES_LEAST = 0.01
"""Least cores of a tenant's filters and views: with less, one piece would outlast the patience of clients."""

NodeName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]


class NodeKind(StrEnum):
    """Kind of a Swift server."""

    PROXY = "proxy"
    ACCOUNT = "account"
    CONTAINER = "container"
    OBJECT = "object"


class NodeSettings(BaseModel):
    """A server of Swift."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: NodeKind = Field(description="`proxy`, `account`, `container` or `object`.")
    url: Annotated[str, StringConstraints(max_length=2048, pattern=r"^https?://")] = Field(
        description="Where it listens, such as http://10.0.0.3:6200."
    )
    restart: list[Annotated[str, StringConstraints(max_length=4096)]] = Field(
        default=[],
        max_length=100,
        description="Program and arguments that restart it, run without a shell by the controller's user; without "
        "them, the controller cannot restart it.",
    )


class DisksSettings(BaseModel):
    """The disks of all object servers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    servers: int = Field(ge=1, le=10_000, description="How many object servers.")
    bytes_per_s: int = Field(ge=1_000_000, description="Bandwidth of the disks of each, reads and writes together.")
    replicas: int = Field(default=3, ge=1, le=20, description="How often an object is stored.")


class ControllerSettings(FileSettings):
    """Rates are bytes per second. Secrets are files, so that no environment contains them."""

    file_variable: ClassVar[str] = "ZOE_SDS_CONFIG"
    model_config = SettingsConfigDict(env_prefix="ZOE_SDS_", env_nested_delimiter="__", extra="forbid")

    database_url: DatabaseUrl = Field(default=DEFAULT_URL, description="PostgreSQL URL.")
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=5560, ge=0, le=65535, description="Port to listen on.")
    name: str = Field(
        default="",
        description="Name of this controller among those with the same database (default: host name and port).",
    )
    lead_lease_s: float = Field(
        default=5.0,
        gt=0,
        description="How long a controller that does not renew its lease leads, until a standby takes over.",
    )
    token_file: Path = Field(description="File with the token that clients send as X-Auth-Token.")
    metrics_token_file: Path | None = Field(
        default=None, description="File with a token that opens `/metrics` alone, for Prometheus (default: none)."
    )
    limits_endpoint: str = Field(
        default="tcp://127.0.0.1:5561", description="ZeroMQ endpoint from which proxies get limits."
    )
    usage_endpoint: str = Field(default="tcp://127.0.0.1:5562", description="ZeroMQ endpoint to which proxies report.")
    key_file: Path = Field(
        description="File with CURVE keys in Z85, one a line: public, secret, then the proxies' public keys."
    )
    read_bytes_per_s: int = Field(
        gt=0, description="Bandwidth that may be guaranteed for reading; at most what the proxies move."
    )
    write_bytes_per_s: int = Field(
        gt=0, description="Bandwidth that may be guaranteed for writing; at most what the proxies move."
    )
    proxies: dict[str, int] = Field(description="Bandwidth of each proxy, by proxy_name.")
    proxies_spare: int = Field(
        default=0,
        ge=0,
        description="Number of proxies that may be lost without breaking a guarantee: the bandwidth of the fastest "
        "ones is not guaranteed.",
    )
    bandwidth_nodes: dict[NodeName, Annotated[int, Field(ge=1_000_000)]] = Field(
        default={},
        max_length=1000,
        description="Bandwidth of the disks of each object server, by its node_name, reads and writes together. With "
        "it, the object servers enforce bandwidth, not the proxies (default: the proxies).",
    )
    bandwidth_replicas: int = Field(
        default=3, ge=1, le=20, description="Replicas of an object, if object servers enforce bandwidth."
    )
    account_prefix: str = Field(default="AUTH_", description="Prefix of a tenant's name in Swift's accounts.")
    executions_secret_file: Path | None = Field(
        default=None,
        description="File with the secret for the credentials of executions, the same as at the proxies; without "
        "it, executions have none.",
    )
    dialect: SpokenDialect = Field(
        default=SpokenDialect.BOTH,
        description="Dialects of Crystal that the controller speaks: `appendix` (2016), `later` (2017) or `both`. "
        "Clients recognise the dialect by a 404 of the other one.",
    )
    hold_s: float = Field(default=5.0, gt=0, description="How long limits hold without a report before they decay.")
    decay_s: float = Field(default=30.0, ge=0, description="Time in which they then fall to the shares of the SLOs.")
    swift_auth_url: str | None = Field(
        default=None,
        description="Where a reseller admin signs in, for views and stored objects: Swift's authentication URL, or "
        "Keystone's, which ends in `/v3`.",
    )
    swift_user: str = Field(
        default="", description="User name of the reseller admin; at Keystone, the id of an application credential."
    )
    swift_key_file: Path | None = Field(default=None, description="File with the key of the reseller admin.")
    filter_cores: float | None = Field(
        default=None,
        ge=CORES_LEAST,
        description="Cores that filters and views of a tenant may take at each proxy and object server: CPU seconds "
        "per second, over all of its requests there (default: no bound).",
    )
    filter_cores_of: dict[str, Annotated[float, Field(ge=CORES_LEAST)]] = Field(
        default={}, description="Cores by tenant name, instead of `filter_cores`."
    )
    rewrite_bytes_per_s: int = Field(
        default=20_000_000,
        ge=100_000,
        description="Bytes per second of jobs that store objects again, unless the job says another rate.",
    )
    replication_bytes_per_s: int | None = Field(
        default=None,
        ge=1_000_000,
        description="Bytes per second that each object server is sent by replicators, by ssync (default: no limit).",
    )
    replication_disks: DisksSettings | None = Field(
        default=None,
        description="Disks that replication shares with tenants: it gets what promises leave of them, and "
        "`replication_bytes_per_s` at least (default: that rate, always).",
    )
    prometheus_url: str | None = Field(
        default=None,
        description="URL of a Prometheus, which metrics of rules may ask by expressions; without it, there are none.",
    )
    metrics_interval_s: float = Field(
        default=5.0,
        ge=1,
        le=60,
        description="How often the metrics are evaluated that were added for rules; values hold for three intervals.",
    )
    rewrite_patience_s: float = Field(
        default=3600.0,
        gt=0,
        description="How long such a job waits for a store that does not answer. Then it fails, and can be resumed.",
    )
    swift_endpoints_url: str | None = Field(
        default=None, description="URL of Swift's list_endpoints (default: /endpoints/ at Swift's proxy)."
    )
    swift_fragmented_policies: list[int] = Field(
        default=[],
        description="Indexes of Swift's erasure-coded storage policies: hosts have only fragments of their objects.",
    )
    swift_policy_command: list[Annotated[str, StringConstraints(max_length=4096)]] = Field(
        default=[],
        max_length=100,
        description="Program and arguments that make a storage policy, run without a shell by the controller's user, "
        "with the policy as JSON in a last argument; without them, none is made from here.",
    )
    swift_policy_s: float = Field(
        default=300.0, gt=0, le=3600, description="How long it may take; then the program is killed."
    )
    swift_nodes: dict[NodeName, NodeSettings] = Field(
        default={}, max_length=1000, description="Servers of Swift whose health is checked, by name."
    )
    nodes_interval_s: float = Field(default=10.0, ge=1, le=3600, description="Interval between health checks.")
    nodes_timeout_s: float = Field(default=5.0, gt=0, le=60, description="Timeout of a health check.")
    nodes_slow_s: float = Field(default=1.0, gt=0, description="Seconds from which an answer counts as slow.")
    nodes_full_percent: float = Field(
        default=95.0, gt=0, le=100, description="Used part of a disk from which its node counts as failing."
    )
    nodes_replication_s: float = Field(
        default=7200.0, gt=0, description="Longest time since the last replication pass of a node."
    )
    nodes_pending_max: int = Field(
        default=10_000, ge=0, description="Most updates of listings that may be queued at an object server."
    )
    nodes_restart_s: float = Field(
        default=60.0, gt=0, le=3600, description="How long a restart of a node may take; then its program is killed."
    )

    @model_validator(mode="after")
    def _some_proxy_is_left(self) -> Self:
        if self.proxies_spare >= len(self.proxies):
            most = len(self.proxies)
            raise ValueError(f"proxies_spare is {self.proxies_spare}; it must be below the number of proxies, {most}")
        return self

    @model_validator(mode="after")
    def _servers_have_names_of_their_own(self) -> Self:
        if twice := sorted(self.proxies.keys() & (self.bandwidth_nodes.keys() | self.object_servers)):
            raise ValueError(f"{twice[0]} is the name of a proxy and of an object server")
        return self

    @property
    def object_servers(self) -> frozenset[str]:
        """Return the names of the object servers in `swift_nodes`."""
        return frozenset(name for name, settings in self.swift_nodes.items() if settings.kind == "object")

    @model_validator(mode="after")
    def _replication_has_a_least_rate(self) -> Self:
        if (disks := self.replication_disks) is None:
            return self
        if self.replication_bytes_per_s is None:
            raise ValueError("replication_disks needs replication_bytes_per_s, the least rate of replication")
        if self.replication_bytes_per_s > disks.bytes_per_s:
            raise ValueError("replication_bytes_per_s is at most what the disks of replication_disks can move")
        return self
