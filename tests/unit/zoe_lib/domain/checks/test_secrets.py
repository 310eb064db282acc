from __future__ import annotations

from tests.support.scheduling import component
from zoe_lib.domain.applications.application import Application, ComponentSecret, ComponentSource
from zoe_lib.domain.applications.secrets import TenantSecrets
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.checks.secrets import check_secrets
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform

ASKING = Application(
    "a",
    (
        component(
            secrets=(ComponentSecret("key", file="k"), ComponentSecret("word", variable="WORD")),
            sources=(ComponentSource("https://example.org/a.git", secret="token"),),
        ),
    ),
)
NO_VARIABLES = Platform(capabilities=BackendCapabilities(secret_variables=False))


def found(target: Target) -> list[tuple[tuple[str | int, ...], str]]:
    return [(secret.place[2:], secret.code) for secret in check_secrets(ASKING, target)]


def test_secrets_that_are_missing_are_found_where_they_are_asked_for() -> None:
    some = TenantSecrets("ann", "red", frozenset({"key"}))
    assert found(Target(secrets=some)) == [
        (("secrets", 1, "name"), "no_secret"),
        (("sources", 0, "secret"), "no_secret"),
    ]
    assert found(Target(secrets=TenantSecrets("ann", "red", frozenset({"key", "word", "token"})))) == []
    assert found(Target()) == []


def test_variables_are_found_where_others_would_see_them() -> None:
    assert found(Target(NO_VARIABLES)) == [(("secrets", 1, "variable"), "secret_as_variable")]
