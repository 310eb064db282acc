"""Secrets that components ask for, and the sentence for those that do not exist."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class TenantSecrets:
    """The names of the secrets that a user's services find in a tenant; None: unknown."""

    user: str = ""
    tenant: str = ""
    names: frozenset[str] | None = None


def wanted_secrets(application: Application) -> frozenset[str]:
    """Return the names of all secrets that the components ask for."""
    return frozenset(name for component in application.components for name in component.secret_names)


def no_secrets(names: Sequence[str], user: str, tenant: str) -> str:
    """Return why services that ask for these secrets cannot start."""
    which = f"secret {names[0]}" if len(names) == 1 else f"secrets {', '.join(names)}"
    return f"neither {user} nor tenant {tenant} has the {which}"


def how_to_set(names: Sequence[str]) -> str:
    """Return what to do about it."""
    return "store it: " + "; ".join(f"zoe secret set {name}" for name in names)
