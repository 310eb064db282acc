"""Identification of a request's caller, behind tempauth, `zoe_executions` and Keystone."""

from __future__ import annotations

from typing import Any

import pytest

from storage_filters.execution_auth.callers import caller_of, credential_of, execution_of, signer_of
from storage_filters.execution_auth.names import ExecutionUser

EXECUTION = {"REMOTE_USER": "acme,acme:execution_x1_3,AUTH_acme"}


def of_keystone(project: str, user: str = "ann") -> dict[str, Any]:
    """Return the values that keystoneauth leaves: ids, and names that users chose."""
    tenant = ("7f", project)
    return {"REMOTE_USER": tenant, "keystone.identity": {"user": ("8a", user), "tenant": tenant}}


@pytest.mark.parametrize(
    ("env", "caller", "signer"),
    [
        ({"REMOTE_USER": "acme,acme:ann,AUTH_acme"}, "AUTH_acme", "acme:ann"),
        (EXECUTION, "AUTH_acme", "executions"),
        (of_keystone("acme"), "AUTH_7f", "ann (8a)"),
        (of_keystone("a,b,c"), "AUTH_7f", "ann (8a)"),
        (of_keystone("acme", "executions"), "AUTH_7f", "executions (8a)"),
        ({"REMOTE_USER": ("7f", "acme")}, "AUTH_7f", ""),
        ({"REMOTE_USER": ("7f", "a,b,c"), "HTTP_X_USER_NAME": "root"}, "AUTH_7f", ""),
        ({"REMOTE_USER": ".wsgi.pre_authed", "HTTP_X_PROJECT_ID": "7f"}, "", ""),
        (
            {"REMOTE_USER": (None, None), "keystone.identity": {"user": ("8a", "ann"), "tenant": (None, None)}},
            "",
            "ann (8a)",
        ),
        ({}, "", ""),
    ],
)
def test_caller_and_signer(env: dict[str, Any], caller: str, signer: str) -> None:
    assert (caller_of(env, "AUTH_"), signer_of(env)) == (caller, signer)


def test_no_name_of_a_project_makes_its_users_an_execution() -> None:
    assert credential_of(EXECUTION) == ExecutionUser("acme", "x1", 3)
    for name in ("acme:execution_x1_3,z", "x,acme:execution_x1_3", "x,acme:execution_x1_3,z", "acme:execution_x1_3"):
        for env in (of_keystone(name), {"REMOTE_USER": ("7f", name)}):
            assert credential_of(env) is None, name
            assert execution_of(env) == "", name
