"""Tenants in the object store's reports, and additions for operators."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    TENANT,
    USER,
    StorageAnswers,
    caller_of,
    operator,
    person,
    refusal,
    services,
)
from zoe_api.http.problems.codes import Code
from zoe_api.storage import capacity as storage
from zoe_lib.domain.executions.promises import Rates, TenantBandwidth
from zoe_lib.store.people import Principal
from zoe_lib.store.values import BandwidthPoint


@pytest.mark.parametrize(
    ("principal", "tenant", "seen"),
    [
        (person(), None, TENANT),
        (person(), TENANT, TENANT),
        (operator(), None, None),
        (operator(), TENANT, TENANT),
        (operator(), ELSEWHERE, ELSEWHERE),
    ],
)
def test_reports_are_of_the_own_tenant_and_of_any_for_operators(
    principal: Principal, tenant: str | None, seen: str | None
) -> None:
    assert storage._seen_by(principal, tenant) == seen


def test_reports_of_other_tenants_are_for_operators() -> None:
    with refusal(Code.ROLE_MISSING):
        storage._seen_by(person(), ELSEWHERE)


@pytest.mark.parametrize(
    ("tenant", "user", "seen"),
    [(TENANT, USER, True), (TENANT, PEER, False), (ELSEWHERE, USER, False)],
)
def test_users_see_the_bandwidth_of_their_own_executions(tenant: str, user: str, seen: bool) -> None:
    one = type("One", (), {"tenant": tenant, "user": user})()
    assert storage.may_see(person(), one) is seen
    assert storage.may_see(operator(), one)


def over_time(principal: Principal, **given: Any) -> tuple[Any, list[Any]]:
    made, asked = services(), list[Any]()
    point = BandwidthPoint(5.0, TENANT, TenantBandwidth(Rates(1, 2), None, Rates(3, 4)))
    made.store.bandwidth_over_time = lambda *found: asked.append(found) or [point]
    return storage.storage_over_time(caller_of(made, principal), 0.0, 6000.0, **given), asked


def test_means_over_time_are_those_of_the_store() -> None:
    told, asked = over_time(person())
    assert asked == [(0.0, 6000.0, 50.0, TENANT)]
    (point,) = told.points
    assert (point.tenant, point.at_s, point.granted.read_bytes_per_s, point.achieved) == (TENANT, 5.0, 1, None)
    assert point.missed.write_bytes_per_s == 4
    assert (told.from_s, told.to_s, told.stretch_s) == (0.0, 6000.0, 50.0)
    assert over_time(operator())[1] == [(0.0, 6000.0, 50.0, None)]


def test_traffic_is_asked_for_one_tenant_or_all() -> None:
    controller: Any = StorageAnswers(seconds=10.0, rows=[], left_out=0)
    for principal, tenant in ((person(), TENANT), (operator(), None)):
        storage.storage_traffic(caller_of(None, principal), controller, "tenant,method", 10.0)
        _, _, query = controller.asked[-1]
        assert (query["tenant"], query["by"]) == (tenant, ["tenant", "method"])
