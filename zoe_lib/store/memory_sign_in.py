"""Signing in by providers, in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zoe_lib.domain.roles import Role
from zoe_lib.store.base import ConcurrentUpdate
from zoe_lib.store.memory_state import State
from zoe_lib.store.people import SIGN_INS_MAX, AuditEntry, Membership, Roles, SignInAttempt, User, adoption_entries


class MemorySignIn:
    """The methods of `PeopleStore` about users of providers."""

    def _reached(self) -> State:
        raise NotImplementedError

    def adopt(
        self, user: User, roles: Mapping[str, Role], managed: Collection[str], audit: AuditEntry | None = None
    ) -> User:
        """Keep a user whom a provider knows."""
        with self._reached() as state:
            people = state.people
            identity = (user.provider, user.subject)
            known = next((u for u in people.users.values() if (u.provider, u.subject) == identity), None)
            if known is None and user.name in people.users:
                raise ConcurrentUpdate(f"the name {user.name} is somebody else's here")
            adopted = people.users.setdefault(known.name if known else user.name, user)
            before = self._roles_of(adopted.name)
            for tenant in managed:
                if tenant not in roles and (adopted.name, tenant) in people.roles:
                    self.remove_member(adopted.name, tenant)
            people.roles |= {(adopted.name, t): role for t, role in roles.items() if t in people.tenants}
            if audit is not None:
                after = self._roles_of(adopted.name)
                for change in adoption_entries(audit, adopted.name, known is None, before, after):
                    self.add_audit(change)
            return adopted

    def memberships(self, user: str | None = None) -> Sequence[Membership]:
        """Of a user."""
        raise NotImplementedError

    def add_audit(self, entry: AuditEntry) -> int:
        """Keep an entry."""
        raise NotImplementedError

    def _roles_of(self, user: str) -> Roles:
        return {one.tenant: one.role for one in self.memberships(user)}

    def remove_member(self, user: str, tenant: str) -> None:
        """End a membership."""
        raise NotImplementedError

    def add_sign_in(self, attempt: SignInAttempt) -> None:
        """Keep an attempt."""
        with self._reached() as state:
            kept = sorted([*state.people.sign_ins.values(), attempt], key=lambda one: -one.expires_at_s)
            state.people.sign_ins = {one.id: one for one in kept[:SIGN_INS_MAX]}

    def take_sign_in(self, attempt_id: str, now_s: float) -> SignInAttempt | None:
        """Forget an attempt and tell it."""
        with self._reached() as state:
            attempt = state.people.sign_ins.pop(attempt_id, None)
            return attempt if attempt is not None and attempt.expires_at_s > now_s else None
