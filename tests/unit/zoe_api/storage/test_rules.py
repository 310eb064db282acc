"""The tenant of a request's objects."""

from __future__ import annotations

import pytest

from tests.support.plain_api import ELSEWHERE, TENANT, admin, operator, person, refusal
from zoe_api.http.problems.codes import Code
from zoe_api.storage import rules as storage_rules
from zoe_lib.store.people import Principal


def test_without_a_name_it_is_the_own_tenant() -> None:
    assert storage_rules._tenant(person(), None) == TENANT
    assert storage_rules._tenant(person(), TENANT) == TENANT
    assert storage_rules._tenant(admin(), None) == TENANT


@pytest.mark.parametrize("principal", [person(), operator()], ids=["user", "operator"])
def test_another_tenant_is_for_admins(principal: Principal) -> None:
    assert storage_rules._tenant(admin(), ELSEWHERE) == ELSEWHERE
    with refusal(Code.NOT_ADMIN):
        storage_rules._tenant(principal, ELSEWHERE)
