"""People in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from zoe_lib.domain.roles import Role, Scope
from zoe_lib.store.base import ConcurrentUpdate, NotFound, StoreLimits
from zoe_lib.store.memory_sign_in import MemorySignIn
from zoe_lib.store.memory_state import PeopleState, State
from zoe_lib.store.people import (
    AppAccess,
    AuditEntry,
    EndedAccess,
    Limits,
    Membership,
    Principal,
    SealedCredential,
    Session,
    Tenant,
    Token,
    User,
)


class MemoryPeople(MemorySignIn):
    """The methods of `PeopleStore` for a handle on state in memory."""

    _limits: StoreLimits

    def _reached(self) -> State:
        raise NotImplementedError

    def ensure_member(self, user: str, tenant: str, role: str) -> None:
        """Make a membership."""
        with self._reached() as state:
            state.people.users.setdefault(user, User(user))
            state.people.tenants.setdefault(tenant, Tenant(tenant))
            state.people.roles[user, tenant] = Role(role)

    def remove_member(self, user: str, tenant: str) -> None:
        """End a membership."""
        with self._reached() as state:
            people = state.people
            if people.roles.pop((user, tenant), None) is None:
                raise NotFound(f"{user} is no member of {tenant}")
            gone = (user, tenant)
            people.tokens = {k: t for k, t in people.tokens.items() if (t.user, t.tenant) != gone}
            people.sessions = {k: s for k, s in people.sessions.items() if (s.user, s.tenant) != gone}

    def memberships(self, user: str | None = None, tenant: str | None = None) -> Sequence[Membership]:
        """Of a user, of a tenant, or all."""
        with self._reached() as state:
            found = [Membership(*key, role) for key, role in state.people.roles.items()]
        mine = (m for m in found if user in (None, m.user) and tenant in (None, m.tenant))
        return sorted(mine, key=lambda m: (m.tenant, m.user))

    def add_user(self, user: User) -> None:
        """Keep a user."""
        with self._reached() as state:
            if user.name in state.people.users:
                raise ConcurrentUpdate(f"there is a user {user.name} already")
            state.people.users[user.name] = user

    def users(self) -> Sequence[User]:
        """All users."""
        with self._reached() as state:
            return [user for _, user in sorted(state.people.users.items())]

    def user(self, name: str) -> User:
        """One user."""
        with self._reached() as state:
            if name not in state.people.users:
                raise NotFound(f"there is no user {name!r}")
            return state.people.users[name]

    def set_password(self, name: str, password_hash: str | None) -> None:
        """Replace a password's hash."""
        with self._reached() as state:
            state.people.users[name] = replace(self.user(name), password_hash=password_hash)
            self._end_sessions(state.people, name)

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Disable a user, or enable."""
        with self._reached() as state:
            state.people.users[name] = replace(self.user(name), disabled=disabled)
            if disabled:
                self._end_sessions(state.people, name)

    @staticmethod
    def _end_sessions(people: PeopleState, user: str) -> None:
        people.sessions = {k: s for k, s in people.sessions.items() if s.user != user}

    def add_tenant(self, name: str) -> None:
        """Keep a tenant."""
        with self._reached() as state:
            if name in state.people.tenants:
                raise ConcurrentUpdate(f"there is a tenant {name} already")
            state.people.tenants[name] = Tenant(name)

    def tenants(self) -> Sequence[Tenant]:
        """All tenants."""
        with self._reached() as state:
            return [tenant for _, tenant in sorted(state.people.tenants.items())]

    def add_token(self, token: Token) -> None:
        """Keep a token."""
        with self._reached() as state:
            self._check_member(state.people, token.user, token.tenant)
            if token.id in state.people.tokens:
                raise ConcurrentUpdate(f"the token id {token.id} is taken")
            if token.made_by not in (None, *state.people.tokens):
                raise NotFound(f"there is no token {token.made_by}")
            state.people.tokens[token.id] = token

    @staticmethod
    def _check_member(people: PeopleState, user: str, tenant: str) -> None:
        if (user, tenant) not in people.roles:
            raise NotFound(f"{user} is no member of {tenant}")

    def revoke_token(self, token_id: str) -> None:
        """Forget a token."""
        with self._reached() as state:
            if token_id not in state.people.tokens:
                raise NotFound(f"there is no token {token_id!r}")
            self._forget_token(state.people, token_id)

    def _forget_token(self, people: PeopleState, token_id: str) -> None:
        people.tokens.pop(token_id, None)
        for made in [token.id for token in people.tokens.values() if token.made_by == token_id]:
            self._forget_token(people, made)

    def end_access(self, user: str) -> EndedAccess:
        """Forget all tokens and sessions of a user."""
        with self._reached() as state:
            self.user(user)
            people = state.people
            kept = {k: t for k, t in people.tokens.items() if t.user != user}
            ended = EndedAccess(
                len(people.tokens) - len(kept), sum(one.user == user for one in people.sessions.values())
            )
            people.tokens = kept
            self._end_sessions(people, user)
            return ended

    def tokens(self, user: str | None = None) -> Sequence[Token]:
        """Tokens of a user, or all."""
        with self._reached() as state:
            found = [token for token in state.people.tokens.values() if user in (None, token.user)]
        return sorted(found, key=lambda token: (token.created_at_s, token.id))

    def principal(self, token_id: str, now_s: float) -> tuple[Principal, str] | None:
        """Who holds a token."""
        with self._reached() as state:
            people = state.people
            token = people.tokens.get(token_id)
            if token is None or people.users[token.user].disabled:
                return None
            if token.expires_at_s is not None and token.expires_at_s <= now_s:
                return None
            role = people.roles[token.user, token.tenant]
            return Principal.of(token.user, token.tenant, role, token.scopes, token.id), token.secret_hash

    def add_session(self, session: Session) -> None:
        """Keep a session."""
        with self._reached() as state:
            self._check_member(state.people, session.user, session.tenant)
            state.people.sessions[session.id] = session

    def session(self, session_id: str, now_s: float) -> Principal | None:
        """Who is signed in."""
        with self._reached() as state:
            people = state.people
            session = people.sessions.get(session_id)
            if session is None or session.expires_at_s <= now_s or people.users[session.user].disabled:
                return None
            role = people.roles[session.user, session.tenant]
            return Principal.of(session.user, session.tenant, role, session_id=session.id)

    def sessions_among(self, ids: Collection[str], now_s: float) -> Mapping[str, tuple[Principal, str | None]]:
        """Those of these sessions that are not over."""
        with self._reached() as state:
            kept = state.people.sessions
            found = {one: self.session(one, now_s) for one in ids}
            return {one: (who, kept[one].proof_hash) for one, who in found.items() if who is not None}

    def end_session(self, session_id: str) -> None:
        """Forget a session."""
        with self._reached() as state:
            state.people.sessions.pop(session_id, None)

    def set_storage_credential(self, credential: SealedCredential) -> None:
        """Keep a credential."""
        with self._reached() as state:
            if credential.tenant not in state.people.tenants:
                raise NotFound(f"there is no tenant {credential.tenant}")
            state.people.credentials[credential.tenant, credential.service] = credential

    def storage_credentials(self, tenant: str) -> Sequence[SealedCredential]:
        """Those of a tenant."""
        with self._reached() as state:
            return [one for key, one in sorted(state.people.credentials.items()) if key[0] == tenant]

    def reseal_storage_credential(self, was: SealedCredential, sealed: bytes) -> bool:
        """Seal a credential otherwise."""
        with self._reached() as state:
            kept = state.people.credentials.get((was.tenant, was.service))
            if kept is None or kept.sealed != was.sealed:
                return False
            state.people.credentials[was.tenant, was.service] = replace(kept, sealed=sealed)
            return True

    def remove_storage_credential(self, tenant: str, service: str) -> None:
        """Forget a credential."""
        with self._reached() as state:
            if state.people.credentials.pop((tenant, service), None) is None:
                raise NotFound(f"{tenant} has no credentials for {service}")

    def add_app_access(self, access: AppAccess) -> None:
        """Keep a ticket."""
        with self._reached() as state:
            if access.session_id not in (None, *state.people.sessions) or access.token_id not in (
                None,
                *state.people.tokens,
            ):
                raise NotFound("the session or token has gone")
            state.people.app_accesses[access.id] = access

    def enter_app(self, ticket_id: str, access_id: str, now_s: float, expires_at_s: float) -> AppAccess | None:
        """Turn a ticket into an access."""
        with self._reached() as state:
            ticket = state.people.app_accesses.get(ticket_id)
            if ticket is None or ticket.entered or ticket.expires_at_s <= now_s:
                return None
            del state.people.app_accesses[ticket_id]
            access = replace(ticket, id=access_id, entered=True, expires_at_s=expires_at_s)
            state.people.app_accesses[access_id] = access
            return access

    def app_access(self, access_id: str, now_s: float) -> AppAccess | None:
        """An access that was entered."""
        with self._reached() as state:
            access = state.people.app_accesses.get(access_id)
            if access is None or not access.entered or access.expires_at_s <= now_s:
                return None
            who = self.session(access.session_id, now_s) if access.session_id else None
            if access.token_id:
                found = self.principal(access.token_id, now_s)
                who = None if found is None else found[0]
            return access if who is not None and Scope.SUBMIT in who.scopes else None

    def app_accesses_among(self, ids: Collection[str], execution_id: str, number: int) -> Collection[str]:
        """Those of these ids that are for that port."""
        with self._reached() as state:
            kept = [state.people.app_accesses[one] for one in ids if one in state.people.app_accesses]
            return {one.id for one in kept if (one.execution_id, one.number) == (execution_id, number)}

    def add_failure(self, key: str, at_s: float) -> None:
        """Count a failed sign-in."""
        with self._reached() as state:
            state.people.failures.append((key, at_s))

    def take_guess(self, keys: Sequence[str], limits: Limits, at_s: float) -> str | None:
        """Count a guess, or tell which limit is reached."""
        with self._reached() as state:
            for key, (since_s, most) in limits.items():
                if sum(of == key and then_s >= since_s for of, then_s in state.people.failures) >= most:
                    return key
            state.people.failures.extend((key, at_s) for key in keys)
        return None

    def give_back_guess(self, keys: Sequence[str], at_s: float) -> None:
        """Forget a guess that was right."""
        with self._reached() as state:
            state.people.failures = [one for one in state.people.failures if one not in {(key, at_s) for key in keys}]

    def failures(self, keys: Sequence[str], since_s: float) -> Mapping[str, int]:
        """Failed sign-ins by key."""
        counts: dict[str, int] = {}
        with self._reached() as state:
            for key, at_s in state.people.failures:
                if key in keys and at_s >= since_s:
                    counts[key] = counts.get(key, 0) + 1
        return counts

    def add_audit(self, entry: AuditEntry) -> int:
        """Keep an entry."""
        with self._reached() as state:
            state.people.audit_ids += 1
            state.people.audit.append(replace(entry, id=state.people.audit_ids))
            return state.people.audit_ids

    def end_audit(self, entry_id: int, status: int, changes: Mapping[str, Sequence[object]] | None = None) -> None:
        """Say how it ended."""
        with self._reached() as state:
            state.people.audit = [
                replace(e, status=status, changes=changes or {}) if e.id == entry_id else e for e in state.people.audit
            ]

    def audit(self, before_id: int | None, limit: int, user: str | None = None) -> Sequence[AuditEntry]:
        """Entries newest first."""
        with self._reached() as state:
            newest = reversed(state.people.audit)
            found = [e for e in newest if (before_id is None or e.id < before_id) and user in (None, e.user)]
        return found[:limit]

    def prune_people(self, now_s: float) -> None:
        """Forget what is too old."""
        limits = self._limits
        with self._reached() as state:
            people = state.people
            people.sessions = {k: s for k, s in people.sessions.items() if s.expires_at_s > now_s}
            people.app_accesses = {k: a for k, a in people.app_accesses.items() if a.expires_at_s > now_s}
            people.sign_ins = {k: a for k, a in people.sign_ins.items() if a.expires_at_s > now_s}
            people.failures = [(k, at_s) for k, at_s in people.failures if at_s > now_s - limits.failures_kept_s]
            people.audit = [entry for entry in people.audit if entry.at_s > now_s - limits.audit_kept_s]
