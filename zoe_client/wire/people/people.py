"""The client's identity, tokens, users, tenants and the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from zoe_client.vocabulary import Role, Scope
from zoe_client.wire.base import SECONDS_MAX, Numbers, Wire

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=NAME_PATTERN)]
"""Pattern of names of users and tenants, which become parts of directory names and labels."""
TIME_LIMIT_S_MAX = 10 * 365 * 86_400.0
"""Maximum of descriptions: an execution without a time limit gets the longest one of its tenant."""


class PrincipalView(Wire):
    """The client's user, tenant and scopes."""

    user: str
    tenant: str
    role: Role
    admin: bool
    scopes: list[Scope]


class TokenRequest(Numbers):
    """A new API token."""

    scopes: list[Scope] = Field(default=[Scope.READ, Scope.SUBMIT])
    lifetime_s: float | None = Field(
        default=None,
        gt=0,
        le=SECONDS_MAX,
        description="Without a lifetime the token never expires; a token made in a session "
        "gets the longest lifetime allowed.",
    )
    note: str = Field(default="", max_length=200)


class TokenView(Wire):
    """A stored token; `secret` is returned only when the token is made."""

    id: str
    user: str
    tenant: str
    scopes: list[str]
    created_at_s: float
    expires_at_s: float | None
    note: str
    made_by: str | None = Field(default=None, description="Id of the token that made this one; both end together.")
    secret: str | None = None


class TokenList(Wire):
    """All tokens of a user."""

    tokens: list[TokenView]


class ProviderView(Wire):
    """A way to sign in: with a password, or at a provider's address in the browser."""

    name: str
    title: str
    kind: Literal["password", "redirect"]
    start: str | None = Field(
        default=None, description="Address to open in the browser; `next` is the path to return to."
    )


class ProviderList(Wire):
    """The ways to sign in, local passwords first."""

    providers: list[ProviderView]


class SignIn(Wire):
    """Password sign-in (default tenant: the user's first; default provider: local)."""

    user: str = Field(min_length=1, max_length=128)
    password: str = Field(min_length=1, max_length=1000)
    tenant: str | None = Field(default=None, max_length=128)
    provider: str = Field(default="local", max_length=128)


class TenantChoice(Wire):
    """Another tenant of the user."""

    tenant: str = Field(min_length=1, max_length=128)


class PasswordChange(Wire):
    """The user's present password, and its replacement."""

    old: str = Field(min_length=1, max_length=1000)
    new: str = Field(min_length=10, max_length=1000)
    end_tokens: bool | None = Field(default=None, description="Also end all tokens of the user.")


class SessionView(Wire):
    """The signed-in user. Changes need `csrf_token` in the header X-CSRF-Token."""

    user: str
    tenant: str
    role: Role
    scopes: list[Scope]
    tenants: list[str] = Field(description="All tenants of the user.")
    csrf_token: str = Field(
        description="Returned at sign-in; later it is the token of the request if that is valid, and empty otherwise."
    )


class NewUser(Wire):
    """A new user without membership of a tenant."""

    name: Name
    password: str | None = Field(default=None, min_length=10, max_length=1000)


class UserChange(Wire):
    """Changes to a user; null keeps a field."""

    password: str | None = Field(default=None, min_length=10, max_length=1000)
    disabled: bool | None = None
    end_tokens: bool | None = Field(default=None, description="With a new password, also end all tokens.")


class EndedAccessView(Wire):
    """Number of tokens and sessions of a user that were ended."""

    tokens: int
    sessions: int


class UserView(Wire):
    """A user; `password` tells whether one is set, and `roles` is by tenant."""

    name: str
    disabled: bool
    password: bool
    provider: str = Field(default="", description="Provider that identifies the user; empty for a local user.")
    roles: dict[str, Role]


class UserList(Wire):
    """All users."""

    users: list[UserView]


class HandOver(Wire):
    """The user of the same tenant who takes over from a leaving user."""

    to: Name


class HandOverView(Wire):
    """The objects that a request handed over. Repeat it while `executions_left`, or while `files` is `moving` or
    `waiting`.

    `executions` counts those of this request. `files`: `moved` into `directory` of the new owner's workspace; `nothing`
    if there are none to move (any more); `moving`; `waiting` for executions that still use them; `failed`. `message`
    says why they are not moved.
    """

    executions: int
    executions_left: bool
    files: Literal["moved", "nothing", "moving", "waiting", "failed"]
    directory: str = ""
    message: str = ""


class NewTenant(Wire):
    """A new tenant."""

    name: Name


class QuotaView(Numbers):
    """Maximum of waiting and running executions of a tenant, and of each of its users; null: unlimited.

    `time_limit_s_max` is the longest time limit of an execution, and the default of executions without one; null:
    unlimited.
    """

    executions_max: int | None = Field(ge=0, le=2**31 - 1)
    executions_of_user_max: int | None = Field(default=None, ge=0, le=2**31 - 1)
    time_limit_s_max: float | None = Field(default=None, gt=0, le=TIME_LIMIT_S_MAX)


class RoleChoice(Wire):
    """A role in a tenant."""

    role: Role


class MemberView(Wire):
    """A member of a tenant."""

    user: str
    role: Role


class TenantDetail(Wire):
    """A tenant; `executions` counts waiting and running ones."""

    name: str
    executions_max: int | None
    executions_of_user_max: int | None
    time_limit_s_max: float | None
    executions: int
    members: list[MemberView]


class TenantList(Wire):
    """All tenants."""

    tenants: list[TenantDetail]


class AuditEntryView(Wire):
    """A requested change and its user; `status` is the status of the answer, or null if the answer was not recorded."""

    id: int
    at_s: float
    user: str
    tenant: str
    action: str = Field(
        description="The operation's id in the OpenAPI document; `sign_in`; or `refused` if the client was unknown."
    )
    target: str = Field(description="Path of the request.")
    request_id: str
    by: str = Field(
        description="`session`, the id of the token, the provider of a sign-in, or the code of the refusal."
    )
    status: int | None
    address: str = Field(default="", description="Address of the client.")
    changes: dict[str, list[Any]] = Field(default={}, description="Old and new value of each changed field.")


class AuditList(Wire):
    """A page of the audit log, newest first."""

    entries: list[AuditEntryView]
    next_before: int | None = Field(description="Value of `before` for the next page; null on the last.")
