"""Settings of the API."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Self

from pydantic import Field, field_validator, model_validator

from zoe_lib.settings.file_settings import FileSettings
from zoe_lib.settings.sign_in_settings import LdapSettings, OidcSettings, RoleRule
from zoe_lib.settings.volume_policies import parse_policies

ANY_HOST = "*"
_PATH_PATTERN = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*"
_HOST_PATTERN = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?"


class ApiSettings(FileSettings):
    """Addresses, limits of requests, sessions, and sign-in."""

    api_host: str = Field(default="127.0.0.1", description="Address that the API listens on.")
    api_port: int = Field(
        default=5100, ge=0, le=65535, description="Port that the API listens on; with 0 the kernel chooses one."
    )
    allowed_hosts: list[str] | None = Field(
        default=None,
        description="Host names that browsers may use for this Zoe. Addresses, `localhost`, the name "
        "of this machine, `public_url`, `services_api_url` and `apps_domain` are always allowed; an empty "
        "list or `*` allows any name.",
    )
    trusted_proxies: list[str] = Field(
        default=[],
        description="Addresses or networks of trusted proxies, whose `X-Forwarded-*` headers are used.",
    )
    api_body_bytes_max: int = Field(
        default=1 << 20, gt=0, description="Maximum size of a request body; larger ones are refused unread."
    )
    secrets_of_user_max: int = Field(
        default=100, ge=0, description="Maximum secrets that a user may have in a tenant; each has at most 64 KiB."
    )
    secrets_of_tenant_max: int = Field(default=100, ge=0, description="Maximum secrets of a tenant for all its users.")
    volumes_of_tenant_bytes_max: int = Field(
        default=100 << 30, ge=0, description="Maximum size of all volumes of a tenant together, in bytes."
    )
    volume_policies: dict[str, list[str]] = Field(
        default={"plain": [], "encrypted": ["luks"]},
        description="Policies of volumes: names for lists of filters, the first nearest to the service. `luks` "
        "encrypts, `rate=50MiB/s` limits reading and writing.",
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
    array_indices_max: int = Field(default=1_000_000, gt=0, description="Maximum indices of an array.")
    stored_applications_max: int = Field(
        default=200, gt=0, description="Maximum stored applications of a user in a tenant, and of a tenant."
    )
    services_api_url: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9\[][^/@\s]*$",
        description="URL at which services reach the API, for the commands of Slurm inside a job. Without it, jobs "
        "cannot call the API.",
    )
    offered_tokens: bool = Field(
        default=True,
        description="Whether components with `api: offered`, such as the catalogue's notebooks, get a token to submit "
        "jobs. False also ends the tokens that running ones have.",
    )
    job_depth_max: int = Field(
        default=8, ge=1, le=64, description="Maximum jobs that submitted each other and have not ended."
    )
    job_descendants_max: int = Field(
        default=1000,
        ge=1,
        description="Maximum descendants of a job that have not ended; an array counts once.",
    )
    job_submissions_per_minute_max: int = Field(
        default=300, ge=1, description="Maximum submissions of a job and its descendants in a minute."
    )
    job_calls_per_s_max: int = Field(
        default=20, ge=1, description="Maximum requests of a job per second at one API process."
    )
    schedules_max: int = Field(default=100, gt=0, description="Maximum schedules of a user in a tenant.")
    workflow_results_kept_s: float = Field(
        default=30 * 86400.0,
        gt=0,
        le=10 * 365 * 86400.0,
        description="How long the results of a workflow's steps are kept in its owner's workspace after it last ran.",
    )
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

    @field_validator("allowed_hosts")
    @classmethod
    def _check_hosts(cls, hosts: list[str] | None) -> list[str] | None:
        for host in hosts or ():
            if host != ANY_HOST and not re.fullmatch(_HOST_PATTERN, host):
                raise ValueError(f"{host!r} is not a host name; write it as in example.org, without scheme and port")
        return hosts

    @field_validator("volume_policies")
    @classmethod
    def _check_policies(cls, policies: dict[str, list[str]]) -> dict[str, list[str]]:
        parse_policies(policies)
        return policies

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, proxies: list[str]) -> list[str]:
        for proxy in proxies:
            ip_network(proxy)  # an invalid name would silently trust no proxy
        return proxies

    @model_validator(mode="after")
    def _check_providers(self) -> Self:
        names = [*self.oidc, *self.ldap]
        if "local" in names or len(set(names)) != len(names):
            raise ValueError("each provider needs a name of its own, other than `local`")
        if len(self.oidc) > 1 and (odd := [name for name in self.oidc if not re.fullmatch(_PATH_PATTERN, name)]):
            raise ValueError(
                f"the name of the provider {odd[0]!r} becomes a part of its redirect URI, as there are several: use "
                "letters, digits, dashes, underscores, and dots between them"
            )
        unknown = {rule.provider for rule in self.sign_in_roles} - set(names)
        if unknown:
            raise ValueError(f"sign_in_roles refers to unknown providers: {', '.join(sorted(unknown))}")
        return self
