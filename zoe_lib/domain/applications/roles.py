"""Rights of users: a role in a tenant gives scopes, and a token or a session never has more than the role."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_client.vocabulary import Role, Scope

__all__ = ["SCOPES", "Role", "Scope"]


SCOPES: Mapping[Role, frozenset[Scope]] = {
    Role.VIEWER: frozenset({Scope.READ}),
    Role.USER: frozenset({Scope.READ, Scope.SUBMIT}),
    Role.OPERATOR: frozenset({Scope.READ, Scope.SUBMIT, Scope.OPERATE}),
    Role.ADMIN: frozenset(Scope),
}
