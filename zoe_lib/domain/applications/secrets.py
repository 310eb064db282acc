"""Secrets of components, and the message about missing ones."""

from __future__ import annotations

from collections.abc import Sequence

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class TenantSecrets:
    """Names of the secrets available to a user's services in a tenant; None: unknown."""

    user: str = ""
    tenant: str = ""
    names: frozenset[str] | None = None


def wanted_secrets(application: Application) -> frozenset[str]:
    """Return the names of all secrets that the components request."""
    return frozenset(name for component in application.components for name in component.secret_names)


def no_secrets(names: Sequence[str], user: str, tenant: str) -> str:
    """Return why services that request these secrets cannot start."""
    which = f"secret {names[0]}" if len(names) == 1 else f"secrets {', '.join(names)}"
    return f"neither {user} nor tenant {tenant} has the {which}"


def how_to_set(names: Sequence[str]) -> str:
    """Return the hint for storing them."""
    return "store it: " + "; ".join(f"zoe secret set {name}" for name in names)
