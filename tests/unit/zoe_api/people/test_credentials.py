"""The owner of a request's credentials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.plain_api import ELSEWHERE, TENANT, USER, admin, caller_of, operator, person, refusal, services
from zoe_api.http.problems.codes import Code
from zoe_api.people import credentials
from zoe_client.wire import CredentialRequest
from zoe_lib.sealing import Seal
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal


def test_without_a_name_it_is_the_own_tenant() -> None:
    assert credentials._tenant(person(), None) == TENANT
    assert credentials._tenant(person(), TENANT) == TENANT
    assert credentials._tenant(admin(), None) == TENANT


@pytest.mark.parametrize("principal", [person(), operator()], ids=["user", "operator"])
def test_another_tenant_is_for_admins(principal: Principal) -> None:
    assert credentials._tenant(admin(), ELSEWHERE) == ELSEWHERE
    with refusal(Code.NOT_ADMIN):
        credentials._tenant(principal, ELSEWHERE)


def test_a_credential_is_sealed_for_its_tenant_service_and_login(tmp_path: Path) -> None:
    there = services(keys_dir=tmp_path, storage_services={"zoe": {"url": "http://swift/auth"}})
    kept: list[Any] = []
    there.accounts.set_storage_credential = kept.append
    body = CredentialRequest(user="acme:ann", key="k")
    told = credentials.set_storage_credential("zoe", body, caller_of(there, person()))
    (stored,) = kept
    assert (stored.tenant, stored.service, stored.login, stored.set_by) == (TENANT, "zoe", "acme:ann", USER)
    assert (told.tenant, told.service, told.user, told.set_by) == (TENANT, "zoe", "acme:ann", USER)
    assert Seal.from_keys_dir(tmp_path).decrypt(stored.sealed, TENANT, "zoe", "acme:ann") == "k"
    with pytest.raises(NotFound, match="known: zoe"):
        credentials.set_storage_credential("other", body, caller_of(there, person()))
    with refusal(Code.NOT_ADMIN):
        credentials.set_storage_credential("zoe", body, caller_of(there, person()), ELSEWHERE)
