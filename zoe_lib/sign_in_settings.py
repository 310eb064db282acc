"""Settings of other ways to sign in than local passwords, and what a user of theirs may do here."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OidcSettings(BaseModel):
    """An OpenID Connect provider."""

    model_config = ConfigDict(extra="forbid")

    issuer: str = Field(description="Its address, as in its discovery document; https, or on this machine.")
    client_id: str = Field(min_length=1, description="What it calls this Zoe.")
    client_secret_file: Path | None = Field(
        default=None, description="Holds the client's secret; none: a public client."
    )
    title: str = Field(default="", description="What the sign-in page says; default: the name.")
    scopes: list[str] = Field(default=["openid", "profile", "email"], description="Scopes that are asked for.")
    user_claim: str = Field(default="preferred_username", description="The claim that becomes the user's name here.")
    groups_claim: str = Field(default="groups", description="The claim with a list of groups.")
    ca_file: Path | None = Field(default=None, description="Certificates of its authority, if the system has them not.")
    timeout_s: float = Field(default=5.0, gt=0, description="How long it may take to answer.")

    @model_validator(mode="after")
    def _check(self) -> OidcSettings:
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise ValueError("the issuer must be an https address")
        return self


class LdapSettings(BaseModel):
    """An LDAP directory: users are searched for, then bind with their password."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="`ldaps://host`, or `ldap://host` with `start_tls`; without TLS on this machine only.")
    start_tls: bool = Field(default=False, description="Turn a plain connection into TLS before anything is said.")
    ca_file: Path | None = Field(default=None, description="Certificates of its authority, if the system has them not.")
    title: str = Field(default="", description="What the sign-in page says; default: the name.")
    bind_dn: str = Field(default="", description="Who searches; empty: nobody in particular.")
    bind_password_file: Path | None = Field(default=None, description="Holds the password of `bind_dn`.")
    base: str = Field(description="Where users are, such as `ou=people,dc=example,dc=org`.")
    filter: str = Field(default="(uid={user})", description="Finds the one entry of `{user}`.")
    subject_attribute: str = Field(default="entryUUID", description="Stays when an entry is renamed.")
    group_base: str = Field(default="", description="Where groups are; empty: there are none.")
    group_filter: str = Field(default="(member={dn})", description="Finds the groups of the entry `{dn}`.")
    group_attribute: str = Field(default="cn", description="The name of a group.")
    timeout_s: float = Field(default=5.0, gt=0, description="How long it may take to answer.")

    @model_validator(mode="after")
    def _check(self) -> LdapSettings:
        parts = urlsplit(self.url)
        if parts.scheme not in ("ldap", "ldaps") or not parts.hostname:
            raise ValueError("the url must be ldaps://host or ldap://host")
        if parts.scheme == "ldap" and not self.start_tls and parts.hostname not in _LOOPBACK:
            raise ValueError("passwords would pass in the clear: use ldaps:// or start_tls")
        if "{user}" not in self.filter or "{dn}" not in self.group_filter:
            raise ValueError("filter must hold {user}, and group_filter {dn}")
        return self


class RoleRule(BaseModel):
    """Who of a provider gets which role in which tenant; the highest of several holds."""

    model_config = ConfigDict(extra="forbid")

    provider: str = Field(description="Its name in `oidc` or `ldap`.")
    group: str | None = Field(default=None, description="Members of this group; none: whoever it knows.")
    tenant: str = Field(description="A tenant that is there.")
    role: Literal["viewer", "user", "operator", "admin"] = Field(default="user", description="The role in it.")
