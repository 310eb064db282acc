"""What is kept of people: users, tenants, memberships, tokens, sessions, failed sign-ins and the audit log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from zoe_lib.domain.roles import SCOPES, Role, Scope

SIGN_INS_MAX = 10_000
Limits = Mapping[str, tuple[float, int]]
"""Of guesses: by key, since when they are counted and how many are granted."""
"""Most attempts kept of those who were sent to a provider."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking: a user acting in one tenant, by a token or a session.

    `scopes` are those of the token that the role allows, too; a session has all of its role.
    """

    user: str
    tenant: str
    role: Role
    scopes: frozenset[Scope] = frozenset()
    token_id: str = ""
    session_id: str = ""

    @classmethod
    def of(
        cls,
        user: str,
        tenant: str,
        role: str,
        scopes: frozenset[str] | None = None,
        token_id: str = "",
        session_id: str = "",
    ) -> Principal:
        """With the scopes that both allow; None: all of the role. Whose token may administer may operate as well."""
        wanted = frozenset(Scope) if scopes is None else scopes | ({Scope.OPERATE} if Scope.ADMIN in scopes else set())
        allowed = frozenset(scope for scope in SCOPES[Role(role)] if scope in wanted)
        return cls(user, tenant, Role(role), allowed, token_id, session_id)

    @property
    def operator(self) -> bool:
        """Whether every tenant's executions may be seen."""
        return Scope.OPERATE in self.scopes


@dataclass(frozen=True, slots=True)
class User:
    """A person. Without `password_hash` there is no signing in by password; who is disabled can do nothing.

    `provider` and `subject` say by whom, and as whom, the user is known elsewhere; a local user has neither.
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
    """An API token as kept: only the hash of its secret. Times in seconds since the epoch; None never expires."""

    id: str
    user: str
    tenant: str
    secret_hash: str
    scopes: frozenset[str]
    created_at_s: float
    expires_at_s: float | None = None
    note: str = ""
    made_by: str | None = None
    """The token that made it, with which it ends."""


@dataclass(frozen=True, slots=True)
class EndedAccess:
    """How many tokens and sessions of a user were ended."""

    tokens: int
    sessions: int


@dataclass(frozen=True, slots=True)
class SealedCredential:
    """How a tenant logs in to a service of the object store; the key is sealed (`zoe_lib.sealing`)."""

    tenant: str
    service: str
    login: str
    sealed: bytes = field(repr=False)
    set_at_s: float = 0.0
    set_by: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser: `id` is the hash of the secret in its cookie. Times in seconds since the epoch.

    `proof_hash` is the hash of the second secret, which the page keeps and changes need. A session without one only
    reads.
    """

    id: str
    user: str
    tenant: str
    created_at_s: float
    expires_at_s: float
    proof_hash: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """A browser that was sent to an OpenID Connect provider. `id` and `browser` are hashes of what it brings back."""

    id: str
    browser: str
    provider: str
    nonce: str
    verifier: str
    next_path: str
    expires_at_s: float


@dataclass(frozen=True, slots=True)
class AppAccess:
    """A way into an application: first a ticket, then the cookie of its origin; `id` is the hash of the secret.

    It ends with the session or token that asked for it. `number` counts the proxied ports of the execution.
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
class AuditEntry:
    """A change that somebody asked for: `action` is the route's name, `target` its path.

    It is written before the change is made; `status` (HTTP) follows, and None says that the end was not seen.
    `id` is given by the store.
    """

    at_s: float
    user: str
    tenant: str
    action: str
    target: str
    request_id: str
    by: str = ""
    """`session`, the id of the token, or the provider by whose word it was made at a sign-in."""
    status: int | None = None
    id: int = 0
    address: str = ""
    changes: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Old and new value by name; JSON values."""


Roles = Mapping[str, Role]
"""A user's, by tenant."""


def adoption_entries(entry: AuditEntry, user: str, made: bool, before: Roles, after: Roles) -> Iterator[AuditEntry]:
    """What a sign-in by a provider changed, each as if an admin had."""
    if made:
        yield replace(entry, user=user, action="add_user")
    for tenant in sorted(before.keys() | after.keys()):
        if before.get(tenant) != after.get(tenant):
            action = "set_role" if tenant in after else "remove_member"
            yield replace(entry, user=user, tenant=tenant, action=action)


class PeopleStore(Protocol):
    """The part of the store that is about people. Every method may raise StoreUnavailable."""

    def ensure_member(self, user: str, tenant: str, role: str) -> None:
        """Make sure that user, tenant and membership exist, with this role."""
        ...

    def remove_member(self, user: str, tenant: str) -> None:
        """End a membership, with its tokens and sessions; NotFound."""
        ...

    def memberships(self, user: str | None = None, tenant: str | None = None) -> Sequence[Membership]:
        """By tenant, then user."""
        ...

    def add_user(self, user: User) -> None:
        """Keep a new user; ConcurrentUpdate when the name is taken."""
        ...

    def adopt(
        self, user: User, roles: Mapping[str, Role], managed: Collection[str], audit: AuditEntry | None = None
    ) -> User:
        """Keep a user whom a provider knows, with these roles in the tenants of `managed`, and no others there.

        Who is known by provider and subject already keeps the name of the first time. ConcurrentUpdate when the name
        is somebody else's. Roles in tenants that are not there are passed over. `audit` is written for each change,
        with it or not at all.
        """
        ...

    def users(self) -> Sequence[User]:
        """All by name."""
        ...

    def user(self, name: str) -> User:
        """One; NotFound."""
        ...

    def set_password(self, name: str, password_hash: str | None) -> None:
        """Replace the hash of a password and end the user's sessions; NotFound."""
        ...

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Let a user do nothing any more, or all again. Who is disabled loses the sessions; NotFound."""
        ...

    def add_tenant(self, name: str) -> None:
        """Keep a new tenant; ConcurrentUpdate when the name is taken."""
        ...

    def tenants(self) -> Sequence[Tenant]:
        """All by name."""
        ...

    def add_token(self, token: Token) -> None:
        """Keep a token; ConcurrentUpdate when the id is taken.

        NotFound when its user is no member of its tenant, or the token that makes it is not there.
        """
        ...

    def revoke_token(self, token_id: str) -> None:
        """Forget a token, and all that it and those made; NotFound."""
        ...

    def end_access(self, user: str) -> EndedAccess:
        """Forget all tokens and sessions of a user; NotFound."""
        ...

    def tokens(self, user: str | None = None) -> Sequence[Token]:
        """The tokens of a user, or all."""
        ...

    def principal(self, token_id: str, now_s: float) -> tuple[Principal, str] | None:
        """Who holds that token, and the hash to compare its secret with.

        None when it is unknown or expired at `now_s`, or its user is disabled.
        """
        ...

    def add_session(self, session: Session) -> None:
        """Keep a session; NotFound when its user is no member of its tenant."""
        ...

    def session(self, session_id: str, now_s: float) -> Principal | None:
        """Who is signed in; None when the session is unknown or over, or its user is disabled."""
        ...

    def sessions_among(self, ids: Collection[str], now_s: float) -> Mapping[str, tuple[Principal, str | None]]:
        """Those of these sessions that `session` would return, by id, each with the hash of its proof."""
        ...

    def end_session(self, session_id: str) -> None:
        """Forget a session; nothing when it is unknown."""
        ...

    def add_sign_in(self, attempt: SignInAttempt) -> None:
        """Keep an attempt; of very many the oldest go."""
        ...

    def take_sign_in(self, attempt_id: str, now_s: float) -> SignInAttempt | None:
        """Forget an attempt and tell it; None when it is unknown, was taken, or is over."""
        ...

    def set_storage_credential(self, credential: SealedCredential) -> None:
        """Keep it, in place of an earlier one for the same service; NotFound for an unknown tenant."""
        ...

    def storage_credentials(self, tenant: str) -> Sequence[SealedCredential]:
        """Those of a tenant, by service."""
        ...

    def reseal_storage_credential(self, was: SealedCredential, sealed: bytes) -> bool:
        """Keep the same login sealed otherwise; False, and nothing is done, when it was set or removed meanwhile."""
        ...

    def remove_storage_credential(self, tenant: str, service: str) -> None:
        """Forget one; NotFound."""
        ...

    def add_app_access(self, access: AppAccess) -> None:
        """Keep a ticket; NotFound when its session or token has gone."""
        ...

    def enter_app(self, ticket_id: str, access_id: str, now_s: float, expires_at_s: float) -> AppAccess | None:
        """Turn a ticket into an access; None when it is unknown, used or over: of two at a time only one enters."""
        ...

    def app_access(self, access_id: str, now_s: float) -> AppAccess | None:
        """An access that was entered.

        None when it is over, its session or token is, or its user is disabled or may not submit there any more.
        """
        ...

    def app_accesses_among(self, ids: Collection[str], execution_id: str, number: int) -> Collection[str]:
        """Those of these ids that are kept for that port of that execution, whether they still let in or not."""
        ...

    def add_failure(self, key: str, at_s: float) -> None:
        """Count a failed sign-in."""
        ...

    def take_guess(self, keys: Sequence[str], limits: Limits, at_s: float) -> str | None:
        """Count a guess under all keys before it is checked, and return None.

        When as many are counted under a key as its limit allows, count nothing and return that key. No two calls, of
        any process, take the last place of a key.
        """
        ...

    def give_back_guess(self, keys: Sequence[str], at_s: float) -> None:
        """Forget a guess that was counted under these keys at that time, and was right."""
        ...

    def failures(self, keys: Sequence[str], since_s: float) -> Mapping[str, int]:
        """How many were counted for each of these keys; those without any are left out."""
        ...

    def add_audit(self, entry: AuditEntry) -> int:
        """Keep an entry; its id."""
        ...

    def end_audit(self, entry_id: int, status: int, changes: Mapping[str, Sequence[object]] | None = None) -> None:
        """Say how the change of an entry ended, and which values it changed."""
        ...

    def audit(self, before_id: int | None, limit: int, user: str | None = None) -> Sequence[AuditEntry]:
        """Entries newest first, with ids below `before_id`."""
        ...

    def prune_people(self, now_s: float) -> None:
        """Forget sessions that are over, old failures, and audit entries beyond their retention."""
        ...
