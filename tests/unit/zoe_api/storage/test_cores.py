"""Bounds of cores: for tenants of Zoe, and for accounts that it does not know."""

from __future__ import annotations

import pytest

from tests.support.plain_api import REQUEST_ID, TENANT, USER, Accounts, Master, admin, request
from zoe_api.storage import cores as storage_cores
from zoe_client.wire import StorageCoresRequest


@pytest.mark.parametrize(("tenant", "noted"), [(TENANT, False), ("*", False), ("nothing", True)])
def test_a_tenant_that_zoe_does_not_know_is_noted(tenant: str, noted: bool) -> None:
    accounts = Accounts()
    accounts.add_member(USER)
    answer = {"tenant": tenant, "cores": 2.0, "standing": True, "author": "root", "at_s": 1.0}
    master = Master(storage_rules=answer)
    told = storage_cores.set_storage_cores(tenant, StorageCoresRequest(cores=2.0), admin(), master, accounts, request())
    asked = {"do": "set_cores", "tenant": tenant, "cores": 2.0, "author": "root"}
    assert master.asked == [("storage_rules", asked, REQUEST_ID, "root")]
    assert bool(told.notes) is noted
