"""Data of people: users, tenants, memberships, tokens, sessions, failed sign-ins and the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from zoe_lib.domain.applications.roles import SCOPES, Role, Scope
from zoe_lib.domain.applications.sharing import ShareLevel, Visibility

Limits = Mapping[str, tuple[float, int]]
"""Limits of failed sign-ins by key: since when they count, and the maximum."""


@dataclass(frozen=True, slots=True)
class JobIdentity:
    """The job that calls the API with its token: an attempt of an execution.

    `unit`: its array if it is an index of one, else the execution itself; the job may see and control this unit and its
    descendants. `cancelled`: a cancellation is stopping it, and it submits nothing more. `reports`: its token can only
    report queries.
    """

    execution_id: str
    attempt: int
    unit: str
    cancelled: bool = False
    reports: bool = False

    def __str__(self) -> str:
        """Return its name for the audit log."""
        return f"job {self.execution_id} attempt {self.attempt}"


@dataclass(frozen=True, slots=True)
class Principal:
    """The identity of a request: a user acting in one tenant, by a token or a session.

    `scopes` are those of the token that the role also allows; a session has all scopes of its role. `job`: the job of
    the token.
    """

    user: str
    tenant: str
    role: Role
    scopes: frozenset[Scope] = frozenset()
    token_id: str = ""
    session_id: str = ""
    job: JobIdentity | None = None

    @classmethod
    def of_member(
        cls,
        user: str,
        tenant: str,
        role: str,
        scopes: frozenset[str] | None = None,
        token_id: str = "",
        session_id: str = "",
    ) -> Principal:
        """Return the principal with the scopes that both the role and the token allow; None: all of the role. An
        admin's token may operate as well.
        """
        wanted = frozenset(Scope) if scopes is None else scopes | ({Scope.OPERATE} if Scope.ADMIN in scopes else set())
        allowed = frozenset(scope for scope in SCOPES[Role(role)] if scope in wanted)
        return cls(user, tenant, Role(role), allowed, token_id, session_id)

    @property
    def operator(self) -> bool:
        """Return whether it may see the executions of all tenants."""
        return Scope.OPERATE in self.scopes

    @property
    def visibility(self) -> Visibility:
        """Return the executions that it sees in its tenant: operators see all, others their own and shared ones."""
        return Visibility(self.tenant, None if self.operator else self.user)


@dataclass(frozen=True, slots=True)
class User:
    """A person. Without `password_hash` the user cannot sign in by password; a disabled user can do nothing.

    `provider` and `subject` identify the user at an identity provider; a local user has neither.
    """

    name: str
    password_hash: str | None = field(default=None, repr=False)
    disabled: bool = False
    provider: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Tenant:
    """An owner of executions."""

    name: str


@dataclass(frozen=True, slots=True)
class Membership:
    """The role of a user in a tenant."""

    user: str
    tenant: str
    role: Role


@dataclass(frozen=True, slots=True)
class Token:
    """An API token as stored: only the hash of its secret. Times in seconds since the epoch; None never expires."""

    id: str
    user: str
    tenant: str
    secret_hash: str
    scopes: frozenset[str]
    created_at_s: float
    expires_at_s: float | None = None
    note: str = ""
    made_by: str | None = None
    """The token that created this one; both end together."""


@dataclass(frozen=True, slots=True)
class EndedAccess:
    """Number of tokens and sessions of a user that were ended."""

    tokens: int
    sessions: int


@dataclass(frozen=True, slots=True)
class SealedCredential:
    """A tenant's login for a service of the object store; the key is sealed (`zoe_lib.sealing`)."""

    tenant: str
    service: str
    login: str
    sealed: bytes = field(repr=False)
    set_at_s: float = 0.0
    set_by: str = ""


@dataclass(frozen=True, slots=True)
class SealedSecret:
    """A secret of a user in a tenant, or of the tenant (`user` None); the value is sealed (`zoe_lib.sealing`)."""

    tenant: str
    user: str | None
    name: str
    sealed: bytes = field(repr=False)
    size_bytes: int = 0
    set_at_s: float = 0.0
    set_by: str = ""

    @property
    def belongs_to(self) -> tuple[str, ...]:
        """Return the owner for whom its value is sealed."""
        return ("secret", self.tenant, self.user or "", self.name)


@dataclass(frozen=True, slots=True)
class NotificationTarget:
    """A notification target of a user, or of the tenant (`user` None): a webhook, or a mail address.
    kinds: events of all executions, besides those that a description requests. sealed: the secret of a webhook. Events
    up to `done_id` have been sent; up to `news_id` there may be unsent ones. Refused times of schedules have been sent
    up to `refusals_id`. failures: failed tries since the last success, since `failing_since_s`; the next one is not
    before `next_at_s` (seconds since the epoch).
    """

    id: str
    tenant: str
    user: str | None
    name: str
    url: str
    kinds: Sequence[str]
    sealed: bytes = field(repr=False)
    set_at_s: float
    set_by: str
    done_id: int = 0
    news_id: int = 0
    refusals_id: int = 0
    failures: int = 0
    failing_since_s: float | None = None
    next_at_s: float = 0.0
    last_error: str = ""
    told_at_s: float | None = None
    stopped: bool = False
    test: bool = False
    """Whether a test was requested."""

    @property
    def belongs_to(self) -> tuple[str, ...]:
        """Return the owner for whom its secret is sealed."""
        return ("notification target", self.id)


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser: `id` is the hash of the secret in its cookie. Times in seconds since the epoch.

    `proof_hash` is the hash of the second secret, which the page keeps and which changes require. A session without one
    can only read.
    """

    id: str
    user: str
    tenant: str
    created_at_s: float
    expires_at_s: float
    proof_hash: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """A browser that was sent to an OpenID Connect provider. `id` and `browser` are hashes of the values that it brings
    back.
    """

    id: str
    browser: str
    provider: str
    nonce: str
    verifier: str
    next_path: str
    expires_at_s: float
    network: str = ""
    """Origin of the sign-in: an IPv4 address, or the /64 of an IPv6 address."""


@dataclass(frozen=True, slots=True)
class MachineSignIn:
    """A machine's request for a token. `id` is the hash of its secret; the user types or compares `code`.

    `session_id` is the session that allows it; the request ends with the session, too.
    """

    id: str
    code: str
    machine: str
    address: str
    network: str
    scopes: frozenset[Scope]
    lifetime_s: float | None
    asked_at_s: float
    expires_at_s: float
    refused: bool = False
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class AppAccess:
    """Access to an application: first a ticket, then the cookie of its origin; `id` is the hash of the secret.

    It ends with the session or token that requested it. `number` is the position among the proxied ports of the
    execution.
    """

    id: str
    user: str
    tenant: str
    session_id: str | None
    token_id: str | None
    execution_id: str
    number: int
    expires_at_s: float
    entered: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """A share: the level that the owner of an execution gives another user of the tenant; without a user, all
    members.
    """

    execution_id: str
    tenant: str
    owner: str
    user: str | None
    level: ShareLevel
    at_s: float


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A requested change: `action` is the route's name, `target` its path.

    It is written before the change is made; `status` (HTTP) follows, and None means that the end was not recorded. The
    store assigns `id`.
    """

    at_s: float
    user: str
    tenant: str
    action: str
    target: str
    request_id: str
    by: str = ""
    """`session`, the id of the token, the job of the token, or the provider of the sign-in that caused the change."""
    status: int | None = None
    id: int = 0
    address: str = ""
    changes: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Old and new value by name; JSON values."""


Roles = Mapping[str, Role]
"""Roles of a user, by tenant."""


def adoption_entries(entry: AuditEntry, user: str, made: bool, before: Roles, after: Roles) -> Iterator[AuditEntry]:
    """Return the audit entries for the changes of a provider's sign-in, each as if an admin had made the change."""
    if made:
        yield replace(entry, user=user, action="add_user")
    for tenant in sorted(before.keys() | after.keys()):
        if before.get(tenant) != after.get(tenant):
            action = "set_role" if tenant in after else "remove_member"
            yield replace(entry, user=user, tenant=tenant, action=action)
