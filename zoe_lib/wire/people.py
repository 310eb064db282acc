"""Who is asking, and tokens."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from zoe_lib.domain.roles import Role, Scope
from zoe_lib.wire.base import SECONDS_MAX, Numbers, Wire

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=NAME_PATTERN)]
"""Of users and tenants: names of directories and labels are made of them."""
TIME_LIMIT_S_MAX = 10 * 365 * 86_400.0
"""As long as a description may ask for: what asks for none gets the longest that its tenant may have."""


class PrincipalView(Wire):
    """Who is asking."""

    user: str
    tenant: str
    role: Role
    admin: bool
    scopes: list[Scope]


class TokenRequest(Numbers):
    """A new API token."""

    scopes: list[Scope] = Field(default=[Scope.READ, Scope.SUBMIT])
    lifetime_s: float | None = Field(
        default=None, gt=0, le=SECONDS_MAX, description="None never expires; by a session, in the longest time allowed."
    )
    note: str = Field(default="", max_length=200)


class TokenView(Wire):
    """A token as kept; `secret` is given once, when it is made."""

    id: str
    user: str
    tenant: str
    scopes: list[str]
    created_at_s: float
    expires_at_s: float | None
    note: str
    made_by: str | None = Field(default=None, description="The token that made it, with which it ends.")
    secret: str | None = None


class TokenList(Wire):
    """All tokens of a user."""

    tokens: list[TokenView]


class ProviderView(Wire):
    """A way to sign in: by a password here, or at an address that a browser goes to."""

    name: str
    title: str
    kind: Literal["password", "redirect"]
    start: str | None = Field(default=None, description="Where a browser goes; `next` is a path to come back to.")


class ProviderList(Wire):
    """The ways to sign in, local passwords first."""

    providers: list[ProviderView]


class SignIn(Wire):
    """A user's password; without a tenant the first of the user's, without a provider a local one."""

    user: str = Field(min_length=1, max_length=128)
    password: str = Field(min_length=1, max_length=1000)
    tenant: str | None = Field(default=None, max_length=128)
    provider: str = Field(default="local", max_length=128)


class TenantChoice(Wire):
    """Another of the own tenants."""

    tenant: str = Field(min_length=1, max_length=128)


class PasswordChange(Wire):
    """The own password, and the one that replaces it."""

    old: str = Field(min_length=1, max_length=1000)
    new: str = Field(min_length=10, max_length=1000)
    end_tokens: bool | None = Field(default=None, description="End all tokens, too.")


class SessionView(Wire):
    """Who is signed in. Changes need `csrf_token` in the header X-CSRF-Token."""

    user: str
    tenant: str
    role: Role
    scopes: list[Scope]
    tenants: list[str] = Field(description="All that the user is a member of.")
    csrf_token: str = Field(
        description="Told once, at sign-in; later the one that the request sent, if it is right, and empty otherwise."
    )


class NewUser(Wire):
    """A new user, a member of nothing yet."""

    name: Name
    password: str | None = Field(default=None, min_length=10, max_length=1000)


class UserChange(Wire):
    """What to change of a user; null leaves it."""

    password: str | None = Field(default=None, min_length=10, max_length=1000)
    disabled: bool | None = None
    end_tokens: bool | None = Field(default=None, description="With a new password, end all tokens, too.")


class EndedAccessView(Wire):
    """How many tokens and sessions of a user were ended."""

    tokens: int
    sessions: int


class UserView(Wire):
    """A user; `password` says whether there is one, and `roles` is by tenant."""

    name: str
    disabled: bool
    password: bool
    provider: str = Field(default="", description="Who knows the user elsewhere; empty: nobody, it is a local one.")
    roles: dict[str, Role]


class UserList(Wire):
    """All users."""

    users: list[UserView]


class NewTenant(Wire):
    """A new tenant."""

    name: Name


class QuotaView(Numbers):
    """How many executions of a tenant, and of each of its users, may wait or run at the same time; null: any number.

    `time_limit_s_max` is the longest time limit that one may ask for, and gets when it asks for none; null: any."""

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
    """A tenant; `executions` wait or run now."""

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
    """Who asked for which change; `status` is the answer's, null when its end was not seen."""

    id: int
    at_s: float
    user: str
    tenant: str
    action: str = Field(
        description="The operation's id in the OpenAPI document; `sign_in`; or `refused`, when nobody was known."
    )
    target: str = Field(description="The path that was asked.")
    request_id: str
    by: str = Field(
        description="`session`, the id of the token, the provider of a sign-in, or the code of what was refused."
    )
    status: int | None
    address: str = Field(default="", description="From where it was asked.")
    changes: dict[str, list[Any]] = Field(default={}, description="Old and new value by the name of what changed.")


class AuditList(Wire):
    """A page of the audit log, newest first."""

    entries: list[AuditEntryView]
    next_before: int | None = Field(description="`before` of the next page; null on the last.")
