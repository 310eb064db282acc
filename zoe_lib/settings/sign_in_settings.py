"""Settings of sign-in by external providers, and the roles of their users."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OidcSettings(BaseModel):
    """An OpenID Connect provider."""

    model_config = ConfigDict(extra="forbid")

    issuer: str = Field(description="Issuer URL, as in the discovery document; `https`, or `http` on loopback.")
    client_id: str = Field(min_length=1, description="Client id of this Zoe at the provider.")
    client_secret_file: Path | None = Field(
        default=None, description="File with the client secret (default: none, for a public client)."
    )
    title: str = Field(default="", description="Label on the sign-in page (default: the name).")
    scopes: list[str] = Field(default=["openid", "profile", "email"], description="Scopes to request.")
    user_claim: str = Field(default="preferred_username", description="Claim that becomes the user name.")
    groups_claim: str = Field(default="groups", description="Claim with the list of groups.")
    ca_file: Path | None = Field(
        default=None, description="CA file, if the CA of the provider is not in the system trust store."
    )
    timeout_s: float = Field(default=5.0, gt=0, description="Time limit of a request to the provider.")
    session_lifetime_s: float = Field(
        default=7200.0,
        gt=0,
        description="How long a browser stays signed in before it must return to the provider, which may no longer "
        "know the user; `session_lifetime_s` of the API may be shorter.",
    )

    @model_validator(mode="after")
    def _check(self) -> OidcSettings:
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise ValueError("the issuer must be an https address")
        return self


class LdapSettings(BaseModel):
    """An LDAP directory: users are searched for, then bind with their password."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="`ldaps://host`, or `ldap://host` with `start_tls`; without TLS on loopback only.")
    client: Literal["ldap3", "bonsai"] = Field(
        default="ldap3",
        description="Python package that talks to the directory; `bonsai` (libldap) is an extra of `zoe-analytics`.",
    )
    start_tls: bool = Field(default=False, description="Use StartTLS before any other request.")
    ca_file: Path | None = Field(
        default=None, description="CA file, if the CA of the provider is not in the system trust store."
    )
    title: str = Field(default="", description="Label on the sign-in page (default: the name).")
    bind_dn: str = Field(default="", description="DN for searches (default: anonymous).")
    bind_password_file: Path | None = Field(default=None, description="File with the password of `bind_dn`.")
    base: str = Field(description="Search base of users, such as `ou=people,dc=example,dc=org`.")
    filter: str = Field(default="(uid={user})", description="Filter that finds the entry of `{user}`.")
    subject_attribute: str = Field(
        default="entryUUID",
        description="Attribute that identifies a user and stays the same when the entry is renamed.",
    )
    group_base: str = Field(default="", description="Search base of groups (default: no groups).")
    group_filter: str = Field(default="(member={dn})", description="Filter that finds the groups of the entry `{dn}`.")
    group_attribute: str = Field(default="cn", description="Attribute with the name of a group.")
    timeout_s: float = Field(default=5.0, gt=0, description="Time limit of a sign-in.")

    @model_validator(mode="after")
    def _check(self) -> LdapSettings:
        parts = urlsplit(self.url)
        if parts.scheme not in ("ldap", "ldaps") or not parts.hostname:
            raise ValueError("the url must be ldaps://host or ldap://host")
        if parts.scheme == "ldap" and not self.start_tls and parts.hostname not in _LOOPBACK:
            raise ValueError("passwords would be sent in clear text: use ldaps:// or start_tls")
        if "{user}" not in self.filter or "{dn}" not in self.group_filter:
            raise ValueError("filter must contain {user}, and group_filter {dn}")
        return self


class RoleRule(BaseModel):
    """Which users of a provider get which role in which tenant; the highest of several applies."""

    model_config = ConfigDict(extra="forbid")

    provider: str = Field(description="Name of the provider in `oidc` or `ldap`.")
    group: str | None = Field(
        default=None, description="Group to which the rule applies (default: all users of the provider)."
    )
    tenant: str = Field(description="Existing tenant.")
    role: Literal["viewer", "user", "operator", "admin"] = Field(default="user", description="Role in the tenant.")
