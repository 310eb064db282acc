"""External identities, and their users and roles in Zoe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from starlette.requests import Request

from zoe_api.http.addresses import address_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.wire.people.people import NAME_PATTERN
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import Role
from zoe_lib.settings.sign_in_settings import RoleRule
from zoe_lib.store.errors import ConcurrentUpdate, Unstorable
from zoe_lib.store.people import AuditEntry, User
from zoe_lib.store.postgres.accounts import AccountStore

_NAME_MAX = 64
_RANK = {role: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True, slots=True)
class Identity:
    """An external identity: `subject` never changes at the provider; `name` is the desired user name in Zoe."""

    provider: str
    subject: str
    name: str
    groups: frozenset[str] = frozenset()


def roles_of(identity: Identity, rules: Iterable[RoleRule]) -> Mapping[str, Role]:
    """Return the highest role by tenant."""
    roles: dict[str, Role] = {}
    for rule in rules:
        if rule.provider == identity.provider and (rule.group is None or rule.group in identity.groups):
            role = Role(rule.role)
            roles[rule.tenant] = max(role, roles.get(rule.tenant, role), key=_RANK.__getitem__)
    return roles


def admit(
    accounts: AccountStore, identity: Identity, rules: Iterable[RoleRule], request: Request, clock: Clock = SYSTEM_CLOCK
) -> str:
    """Return the user's name in Zoe, made at the first sign-in, with present roles; 403 if the user may not sign in."""
    name = identity.name.lower()
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > _NAME_MAX:
        raise ApiProblem(Code.SIGN_IN_REFUSED, f"{identity.name[:80]!r} is not a valid user name in Zoe")
    path, request_id = request.url.path, request.state.request_id
    asked_from = address_of(request)
    change = AuditEntry(
        clock.now_s(), name, "", "", path, request_id, by=identity.provider, status=200, address=asked_from
    )
    try:
        adopted = take_over(accounts, identity, name, rules, change)
    except (ConcurrentUpdate, Unstorable) as error:
        raise ApiProblem(Code.SIGN_IN_REFUSED, str(error), "ask an admin") from None
    if adopted.disabled:
        raise ApiProblem(Code.SIGN_IN_REFUSED, f"{adopted.name} is disabled", "ask an admin")
    return adopted.name


def take_over(
    accounts: AccountStore, identity: Identity, name: str, rules: Iterable[RoleRule], change: AuditEntry
) -> User:
    """Store the user of an identity with the roles of its groups; ConcurrentUpdate or Unstorable."""
    rules = [rule for rule in rules if rule.provider == identity.provider]
    user = User(name, provider=identity.provider, subject=identity.subject)
    return accounts.adopt(user, roles_of(identity, rules), {rule.tenant for rule in rules}, change)
