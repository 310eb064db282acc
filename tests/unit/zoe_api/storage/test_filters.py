"""The tenant of a request's filters, and requests to the storage controller."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import ELSEWHERE, TENANT, StorageAnswers, admin, caller_of, operator, person, refusal
from zoe_api.http.problems.codes import Code
from zoe_api.storage import filters as storage_filters
from zoe_lib.store.people import Principal


@pytest.mark.parametrize(
    ("principal", "tenant", "shared", "owner"),
    [
        (person(), None, False, TENANT),
        (person(), TENANT, False, TENANT),
        (person(), ELSEWHERE, False, None),
        (person(), None, True, None),
        (operator(), None, True, None),
        (admin(), ELSEWHERE, False, ELSEWHERE),
        (admin(), ELSEWHERE, True, ""),
        (admin(), None, True, ""),
    ],
)
def test_filters_of_others_and_shared_ones_are_for_admins(
    principal: Principal, tenant: str | None, shared: bool, owner: str | None
) -> None:
    if owner is not None:
        assert storage_filters._owner(principal, tenant, shared) == owner
        return
    with refusal(Code.NOT_ADMIN):
        storage_filters._owner(principal, tenant, shared)


def test_a_list_of_all_tenants_is_for_admins() -> None:
    controller: Any = StorageAnswers()
    storage_filters.list_storage_filters(caller_of(None, person()), controller)
    storage_filters.list_storage_filters(caller_of(None, admin()), controller, everyone=True)
    assert [query["tenant"] for _, _, query in controller.asked] == [TENANT, TENANT, None, None]
    with refusal(Code.NOT_ADMIN):
        storage_filters.list_storage_filters(caller_of(None, operator()), controller, everyone=True)
