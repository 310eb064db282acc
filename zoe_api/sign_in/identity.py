"""Who somebody is elsewhere, and what follows from it here."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from starlette.requests import Request

from zoe_api.addresses import address_of
from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.domain.roles import Role
from zoe_lib.sign_in_settings import RoleRule
from zoe_lib.store.accounts import AccountStore
from zoe_lib.store.base import ConcurrentUpdate, Unstorable
from zoe_lib.store.people import AuditEntry, User
from zoe_lib.wire.people import NAME_PATTERN

_NAME_MAX = 64
_RANK = {role: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True, slots=True)
class Identity:
    """`subject` stays the same at the provider for ever; `name` is what the user is to be called here."""

    provider: str
    subject: str
    name: str
    groups: frozenset[str] = frozenset()


def roles_of(identity: Identity, rules: Iterable[RoleRule]) -> Mapping[str, Role]:
    """The highest role by tenant."""
    roles: dict[str, Role] = {}
    for rule in rules:
        if rule.provider == identity.provider and (rule.group is None or rule.group in identity.groups):
            role = Role(rule.role)
            roles[rule.tenant] = max(role, roles.get(rule.tenant, role), key=_RANK.__getitem__)
    return roles


def admit(accounts: AccountStore, identity: Identity, rules: Iterable[RoleRule], request: Request) -> str:
    """The user's name here, made at the first time, with the roles of now; 403 when there is no being let in."""
    rules = [rule for rule in rules if rule.provider == identity.provider]
    name = identity.name.lower()
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > _NAME_MAX:
        raise ApiProblem(Code.SIGN_IN_REFUSED, f"{identity.name[:80]!r} cannot be the name of a user here")
    user = User(name, provider=identity.provider, subject=identity.subject)
    path, request_id = request.url.path, request.state.request_id
    asked_from = address_of(request)
    change = AuditEntry(
        time.time(), name, "", "", path, request_id, by=identity.provider, status=200, address=asked_from
    )
    try:
        adopted = accounts.adopt(user, roles_of(identity, rules), {rule.tenant for rule in rules}, change)
    except (ConcurrentUpdate, Unstorable) as error:
        raise ApiProblem(Code.SIGN_IN_REFUSED, str(error), "ask an admin") from None
    if adopted.disabled:
        raise ApiProblem(Code.SIGN_IN_REFUSED, f"{adopted.name} is disabled", "ask an admin")
    return adopted.name
