"""Secrets: encrypted for their owner, limited in number, and never returned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.plain_api import TENANT, USER, caller_of, operator, person, refusal, services
from zoe_api.http.problems.codes import Code
from zoe_api.people import secrets
from zoe_client.wire import SecretRequest
from zoe_lib.sealing import Seal
from zoe_lib.store.errors import TooManySecrets
from zoe_lib.store.people import Principal


@pytest.mark.parametrize(
    ("principal", "of_tenant", "owner", "most"),
    [(person(), False, USER, 3), (operator(), True, None, 4), (operator(), False, "olga", 3)],
)
def test_a_secret_is_sealed_for_its_owner(
    principal: Principal, of_tenant: bool, owner: str | None, most: int, tmp_path: Path
) -> None:
    made = services(keys_dir=tmp_path, secrets_of_user_max=3, secrets_of_tenant_max=4)
    kept: list[Any] = []
    made.accounts.set_secret = lambda *given: kept.append(given)
    told = secrets.set_secret("token", SecretRequest(value="é"), caller_of(made, principal), of_tenant)
    ((secret, bound),) = kept
    assert (secret.tenant, secret.user, secret.name, secret.set_by, bound) == (
        TENANT,
        owner,
        "token",
        principal.user,
        most,
    )
    assert (told.size_bytes, told.user, told.name) == (2, owner, "token")
    assert Seal.from_keys_dir(tmp_path).decrypt(secret.sealed, "secret", TENANT, owner or "", "token") == "é"


def test_too_many_secrets_are_refused(tmp_path: Path) -> None:
    made = services(keys_dir=tmp_path)

    def full(*_: Any) -> None:
        raise TooManySecrets("100 are allowed")

    made.accounts.set_secret = full
    with refusal(Code.TOO_MANY_SECRETS) as found:
        secrets.set_secret("token", SecretRequest(value="x"), caller_of(made, person()))
    assert found.problem.detail == "100 are allowed"


def test_secrets_of_the_tenant_are_for_operators() -> None:
    assert secrets._owner(person(), False) == USER
    assert secrets._owner(operator(), False) == "olga"
    assert secrets._owner(operator(), True) is None
    with refusal(Code.ROLE_MISSING):
        secrets._owner(person(), True)
