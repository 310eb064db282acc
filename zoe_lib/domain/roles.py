"""What people may do: a role in a tenant gives scopes, and a token or a session never has more than the role."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Scope(StrEnum):
    """A right that a route asks for."""

    READ = "read"
    """See the user's own tenant, and the state of the cluster."""
    SUBMIT = "submit"
    """Submit and cancel in the user's own tenant; make tokens."""
    OPERATE = "operate"
    """See and cancel the executions of all tenants; drain and reserve nodes; replay the journal."""
    ADMIN = "admin"
    """Set the policy; change users, tenants, roles and quotas; read the audit log."""


class Role(StrEnum):
    """A user's role in a tenant; each includes the ones before."""

    VIEWER = "viewer"
    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"


SCOPES: Mapping[Role, frozenset[Scope]] = {
    Role.VIEWER: frozenset({Scope.READ}),
    Role.USER: frozenset({Scope.READ, Scope.SUBMIT}),
    Role.OPERATOR: frozenset({Scope.READ, Scope.SUBMIT, Scope.OPERATE}),
    Role.ADMIN: frozenset(Scope),
}
