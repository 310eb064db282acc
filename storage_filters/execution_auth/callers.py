"""Identify the caller of a request, by the environment that the authentication filter left. Pure.

tempauth and `zoe_executions` leave groups in `REMOTE_USER`, a text that begins with the tenant and the user. Keystone's
filter leaves a pair there, the id and the name of the project, and more in `keystone.identity`, which subrequests of
other filters lack. Headers do not count: without Keystone's filter, clients can send them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storage_filters.execution_auth.names import ExecutionUser, user_of

EXECUTION = "zoe.execution"
"""Key of the execution's id in a request's environment."""
EXECUTIONS = "executions"
"""Stands for all executions among the signers of requests."""
_IDENTITY = "keystone.identity"
_GROUPS_OF_EXECUTION = 3


def execution_of(env: Mapping[str, Any]) -> str:
    """Return the id of the execution that makes a request; empty for other users."""
    if EXECUTION in env:
        return str(env[EXECUTION])
    user = credential_of(env)
    return user.execution if user else ""


def credential_of(env: Mapping[str, Any]) -> ExecutionUser | None:
    """Return the execution that makes a request, with the generation of its credential; None for other users.

    Subrequests of other filters, such as copies, have only the user.
    """
    groups = _groups(env)
    return user_of(groups[1]) if len(groups) == _GROUPS_OF_EXECUTION else None


def caller_of(env: Mapping[str, Any], prefix: str) -> str:
    """Return the account of the caller (a WSGI string); empty for an unauthenticated one."""
    groups = _groups(env)
    tenant = _project(env) or (groups[0] if len(groups) > 1 else "")
    return prefix + tenant if tenant else ""


def signer_of(env: Mapping[str, Any]) -> str:
    """Return the name of a request's signer (a WSGI string): a user, or `executions` for any execution; empty for an
    unauthenticated caller. A Keystone user is `name (id)`, since users of two domains may have the same name.
    """
    if credential_of(env) is not None:
        return EXECUTIONS
    if identity := env.get(_IDENTITY):
        number, name = identity["user"]
        return f"{name} ({number})"
    return user_in_groups(env)


def user_in_groups(env: Mapping[str, Any]) -> str:
    """Return tempauth's name of the user, or the execution's; empty for others."""
    groups = _groups(env)
    return groups[1] if len(groups) > 1 else ""


def _groups(env: Mapping[str, Any]) -> Sequence[str]:
    """Return tempauth's groups. Keystone's pair has none: its text would contain a name that a user chose."""
    groups = env.get("REMOTE_USER")
    return groups.split(",") if isinstance(groups, str) else ()


def _project(env: Mapping[str, Any]) -> str:
    """Return the id of Keystone's project."""
    remote = env.get("REMOTE_USER")
    project = (env.get(_IDENTITY) or {}).get("tenant") or (remote if isinstance(remote, tuple) else ("",))
    return str(project[0] or "")
