"""Standing SLOs: named rates are set, and absent ones stay."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import TENANT, USER, StorageAnswers, admin, caller_of, services
from zoe_api.storage import slos as storage_slos
from zoe_client.wire import StorageSloRequest
from zoe_client.wire.storage.slos import SLO_MIN


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, {}),
        ({"read_bytes_per_s": SLO_MIN}, {"read_bytes_per_s": SLO_MIN}),
        ({"write_bytes_per_s": None}, {"write_bytes_per_s": None}),
    ],
)
@pytest.mark.parametrize(("tenant", "noted"), [(TENANT, False), ("nothing", True)])
def test_only_what_is_named_is_asked_for(given: Any, asked: Any, tenant: str, noted: bool) -> None:
    made = services()
    made.accounts.add_member(USER)
    rates = {"read_bytes_per_s": None, "write_bytes_per_s": None}
    controller: Any = StorageAnswers(tenant=tenant, standing=True, set_by="standing", **rates)
    told = storage_slos.set_storage_slo(tenant, StorageSloRequest(**given), caller_of(made, admin()), controller)
    assert controller.asked == [("PUT", f"/v1/slos/{tenant}", asked)]
    assert bool(told.notes) is noted
