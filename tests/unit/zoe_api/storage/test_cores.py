"""Limits on cores: for tenants of Zoe, and for unknown accounts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.plain_api import TENANT, USER, StorageAnswers, admin, caller_of, services
from zoe_api.storage import cores as storage_cores
from zoe_client.wire import StorageCoresRequest


@pytest.mark.parametrize(("tenant", "noted"), [(TENANT, False), ("*", False), ("nothing", True)])
def test_a_tenant_that_zoe_does_not_know_is_noted(tenant: str, noted: bool) -> None:
    made = services()
    made.accounts.add_member(USER)
    controller: Any = StorageAnswers(tenant=tenant, cores=2.0, standing=True, author="root", at_s=1.0)
    told = storage_cores.set_storage_cores(tenant, StorageCoresRequest(cores=2.0), caller_of(made, admin()), controller)
    assert controller.asked == [("PUT", f"/v1/filter-cores/{quote(tenant)}", {"cores": 2.0})]
    assert bool(told.notes) is noted
