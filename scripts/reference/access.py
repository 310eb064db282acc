"""Generate access.md: the required scope of each route, and the roles that have it."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from scripts.reference.tables import page, table
from zoe_api.access.access import Requires, RequiresCaller
from zoe_api.main import bare_app
from zoe_lib.domain.applications.roles import SCOPES, Role, Scope

MEANINGS = {
    Scope.READ: "See your own and shared executions, files, and the state of the cluster.",
    Scope.SUBMIT: "Submit and cancel executions in your tenant; create your own tokens.",
    Scope.OPERATE: "See and cancel the executions of all tenants; drain and reserve nodes; dry runs; replays.",
    Scope.ADMIN: "Set the policy; change users, tenants, roles and quotas; revoke any token; read the audit log.",
}


def access_page() -> str:
    """Return the page."""
    roles = [(role, *("yes" if scope in SCOPES[role] else "" for scope in Scope)) for role in Role]
    scopes = [(f"`{scope}`", MEANINGS[scope]) for scope in Scope]
    routes = [
        (f"`{method} {path}`", scope) for method, path, scope in sorted(route_scopes(), key=lambda item: item[1:])
    ]
    return page(
        "Roles and scopes",
        "`zoe_lib/domain/applications/roles.py` and the routes of the API",
        "A user has a role in each of her tenants. A session of the web UI has all scopes of the role.",
        "A token has the scopes with which it was created, as far as the role still has them; `admin` includes",
        "`operate`.\n",
        table(("scope", "rights"), scopes),
        table(("role", *(f"`{scope}`" for scope in Scope)), roles),
        "Of the policy, operators can only change which nodes are drained or reserved.\n",
        "## Routes\n",
        table(("route", "scope"), routes),
    )


def route_scopes() -> Iterator[tuple[str, str, str]]:
    """Return method, path and scope of each route; `anybody` for routes without a scope."""
    for route in bare_app().routes:
        if isinstance(route, APIRoute):
            asked = sorted(_scopes(route.dependant))
            for method in sorted(route.methods or ()):
                yield method, route.path, ", ".join(f"`{scope}`" for scope in asked) or "anybody"


def _scopes(dependant: Dependant) -> set[Scope]:
    own = {dependant.call.scope} if isinstance(dependant.call, Requires | RequiresCaller) else set()
    return own.union(*(_scopes(dependency) for dependency in dependant.dependencies))
