"""People in PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zoe_lib.domain.roles import Role
from zoe_lib.store.base import NotFound, StoreLimits, Unstorable
from zoe_lib.store.people import (
    AppAccess,
    AuditEntry,
    EndedAccess,
    Limits,
    Membership,
    Principal,
    SealedCredential,
    Session,
    SignInAttempt,
    Tenant,
    Token,
    User,
)
from zoe_lib.store.sql import audit, credentials, people, signing_in
from zoe_lib.store.sql.database import Database
from zoe_lib.store.text import storable


class PostgresPeople:
    """The methods of `PeopleStore` over a database."""

    _database: Database
    _limits: StoreLimits

    def ensure_member(self, user: str, tenant: str, role: str) -> None:
        """Make a membership."""
        self._database.write(lambda c: people.ensure_member(c, user, tenant, role))

    def remove_member(self, user: str, tenant: str) -> None:
        """End a membership."""
        _check(user, tenant)
        self._database.write(lambda c: people.remove_member(c, user, tenant))

    def memberships(self, user: str | None = None, tenant: str | None = None) -> Sequence[Membership]:
        """Of a user, of a tenant, or all."""
        if not storable(user, tenant):
            return ()
        return self._database.read(lambda c: people.read_memberships(c, user, tenant))

    def add_user(self, user: User) -> None:
        """Keep a user."""
        self._database.write(lambda c: people.add_user(c, user))

    def adopt(
        self, user: User, roles: Mapping[str, Role], managed: Collection[str], audit: AuditEntry | None = None
    ) -> User:
        """Keep a user whom a provider knows."""
        if not storable(user.name, user.subject):
            raise Unstorable("what the provider tells of this user cannot be kept")
        return self._database.write(lambda c: people.adopt(c, user, roles, managed, audit))

    def users(self) -> Sequence[User]:
        """All users."""
        return self._database.read(people.read_users)

    def user(self, name: str) -> User:
        """One user."""
        _check(name)
        return self._database.read(lambda c: people.read_user(c, name))

    def set_password(self, name: str, password_hash: str | None) -> None:
        """Replace a password's hash."""
        _check(name)
        self._database.write(lambda c: people.set_password(c, name, password_hash))

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Disable a user, or enable."""
        _check(name)
        self._database.write(lambda c: people.set_disabled(c, name, disabled))

    def add_tenant(self, name: str) -> None:
        """Keep a tenant."""
        self._database.write(lambda c: people.add_tenant(c, name))

    def tenants(self) -> Sequence[Tenant]:
        """All tenants."""
        return self._database.read(people.read_tenants)

    def add_token(self, token: Token) -> None:
        """Keep a token."""
        self._database.write(lambda c: signing_in.add_token(c, token))

    def revoke_token(self, token_id: str) -> None:
        """Forget a token."""
        _check(token_id)
        self._database.write(lambda c: signing_in.revoke_token(c, token_id))

    def end_access(self, user: str) -> EndedAccess:
        """Forget all tokens and sessions of a user."""
        _check(user)
        return self._database.write(lambda c: signing_in.end_access(c, user))

    def tokens(self, user: str | None = None) -> Sequence[Token]:
        """Tokens of a user, or all."""
        return self._database.read(lambda c: signing_in.read_tokens(c, user)) if storable(user) else ()

    def principal(self, token_id: str, now_s: float) -> tuple[Principal, str] | None:
        """Who holds a token."""
        if not storable(token_id):
            return None
        return self._database.read(lambda c: signing_in.principal(c, token_id, now_s))

    def add_session(self, session: Session) -> None:
        """Keep a session."""
        self._database.write(lambda c: signing_in.add_session(c, session))

    def session(self, session_id: str, now_s: float) -> Principal | None:
        """Who is signed in."""
        return self._database.read(lambda c: signing_in.read_session(c, session_id, now_s))

    def sessions_among(self, ids: Collection[str], now_s: float) -> Mapping[str, tuple[Principal, str | None]]:
        """Those of these sessions that are not over."""
        return self._database.read(lambda c: signing_in.read_sessions(c, ids, now_s))

    def end_session(self, session_id: str) -> None:
        """Forget a session."""
        self._database.write(lambda c: signing_in.end_session(c, session_id))

    def add_sign_in(self, attempt: SignInAttempt) -> None:
        """Keep an attempt."""
        self._database.write(lambda c: signing_in.add_sign_in(c, attempt))

    def take_sign_in(self, attempt_id: str, now_s: float) -> SignInAttempt | None:
        """Forget an attempt and tell it."""
        return self._database.write(lambda c: signing_in.take_sign_in(c, attempt_id, now_s))

    def set_storage_credential(self, credential: SealedCredential) -> None:
        """Keep a credential."""
        if not storable(credential.tenant, credential.service, credential.login):
            raise Unstorable("a text of this credential holds characters that cannot be kept")
        self._database.write(lambda c: credentials.put(c, credential))

    def storage_credentials(self, tenant: str) -> Sequence[SealedCredential]:
        """Those of a tenant."""
        return self._database.read(lambda c: credentials.read(c, tenant)) if storable(tenant) else ()

    def reseal_storage_credential(self, was: SealedCredential, sealed: bytes) -> bool:
        """Seal a credential otherwise."""
        return self._database.write(lambda c: credentials.reseal(c, was, sealed))

    def remove_storage_credential(self, tenant: str, service: str) -> None:
        """Forget a credential."""
        if not storable(tenant, service):
            raise NotFound(f"{tenant!r} has no credentials for {service!r}")
        self._database.write(lambda c: credentials.remove(c, tenant, service))

    def add_app_access(self, access: AppAccess) -> None:
        """Keep a ticket."""
        self._database.write(lambda c: signing_in.add_app_access(c, access))

    def enter_app(self, ticket_id: str, access_id: str, now_s: float, expires_at_s: float) -> AppAccess | None:
        """Turn a ticket into an access."""
        return self._database.write(lambda c: signing_in.enter_app(c, ticket_id, access_id, now_s, expires_at_s))

    def app_access(self, access_id: str, now_s: float) -> AppAccess | None:
        """An access that was entered."""
        return self._database.read(lambda c: signing_in.read_app_access(c, access_id, now_s))

    def app_accesses_among(self, ids: Collection[str], execution_id: str, number: int) -> Collection[str]:
        """Those of these ids that are for that port."""
        return self._database.read(lambda c: signing_in.app_accesses_among(c, ids, execution_id, number))

    def add_failure(self, key: str, at_s: float) -> None:
        """Count a failed sign-in."""
        self._database.write(lambda c: signing_in.add_failure(c, key, at_s))

    def take_guess(self, keys: Sequence[str], limits: Limits, at_s: float) -> str | None:
        """Count a guess, or tell which limit is reached."""
        return self._database.write(lambda c: signing_in.take_guess(c, keys, limits, at_s))

    def give_back_guess(self, keys: Sequence[str], at_s: float) -> None:
        """Forget a guess that was right."""
        self._database.write(lambda c: signing_in.give_back_guess(c, keys, at_s))

    def failures(self, keys: Sequence[str], since_s: float) -> Mapping[str, int]:
        """Failed sign-ins by key."""
        return self._database.read(lambda c: signing_in.read_failures(c, keys, since_s))

    def add_audit(self, entry: AuditEntry) -> int:
        """Keep an entry."""
        return self._database.write(lambda c: audit.add(c, entry))

    def end_audit(self, entry_id: int, status: int, changes: Mapping[str, Sequence[object]] | None = None) -> None:
        """Say how it ended."""
        self._database.write(lambda c: audit.end(c, entry_id, status, changes or {}))

    def audit(self, before_id: int | None, limit: int, user: str | None = None) -> Sequence[AuditEntry]:
        """Entries newest first."""
        return self._database.read(lambda c: audit.read(c, before_id, limit, user)) if storable(user) else ()

    def prune_people(self, now_s: float) -> None:
        """Forget what is too old."""
        limits = self._limits
        self._database.write(lambda c: signing_in.prune(c, now_s, now_s - limits.failures_kept_s))
        self._database.write(lambda c: audit.prune(c, now_s - limits.audit_kept_s))


def _check(*names: str) -> None:
    if not storable(*names):
        raise NotFound(f"there is nobody and nothing called {', '.join(map(ascii, names))}")
