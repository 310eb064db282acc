"""Limits of tenants and users, and quotas as older names for some of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import ELSEWHERE, TENANT, USER, admin, caller_of, refusal, request, services
from zoe_api.billing import limits
from zoe_api.http.problems.codes import Code
from zoe_client.wire import LimitChange, QuotaView
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.store.errors import NotFound

ROOT = admin()


def there() -> Any:
    made = services(execution(1))
    made.accounts.add_member(USER)
    made.accounts.add_member("eve", ELSEWHERE)
    return made


def set_(made: Any, tenant: str = TENANT, user: str | None = None, **amounts: Any) -> Any:
    asked = request()
    body = LimitChange(tenant=tenant, user=user, amounts=amounts)
    return limits.set_limit(body, caller_of(made, ROOT, asked)), asked


def test_amounts_that_are_not_given_stay() -> None:
    made = there()
    set_(made, cores_milli=1000)
    view, asked = set_(made, executions=3)
    assert (view.tenant, view.user, view.amounts) == (TENANT, None, {"cores_milli": 1000, "executions": 3})
    assert asked.state.audit_changes == {"executions": [None, 3]}
    assert set_(made, cores_milli=None)[0].amounts == {"cores_milli": None, "executions": 3}
    assert made.master.hints == 3


@pytest.mark.parametrize(("tenant", "user"), [("nothing", None), (TENANT, "nobody"), ("nothing", USER)])
def test_a_limit_is_of_a_tenant_and_a_user_that_exist(tenant: str, user: str | None) -> None:
    with pytest.raises(NotFound):
        set_(there(), tenant, user, executions=1)


@pytest.mark.parametrize(("tenant", "user"), [("*", None), ("*", "*"), (TENANT, "*"), (TENANT, USER)])
def test_a_star_stands_for_all_others(tenant: str, user: str | None) -> None:
    assert set_(there(), tenant, user, executions=1)[0].amounts == {"executions": 1}


def test_a_user_has_no_limit_over_all_tenants() -> None:
    with refusal(Code.INVALID_REQUEST):
        set_(there(), "*", USER, executions=1)


def test_users_have_no_limits_of_bandwidth_and_time() -> None:
    with refusal(Code.INVALID_REQUEST) as found:
        set_(there(), TENANT, USER, executions=1, time_limit_s=5.0, read_bytes_per_s=1_000_000)
    assert [error.pointer for error in found.problem.errors] == [
        "/body/amounts/time_limit_s",
        "/body/amounts/read_bytes_per_s",
    ]
    assert found.problem.errors[0].code == "not_of_users"


def test_a_limit_is_cleared_in_part_or_whole() -> None:
    made = there()
    set_(made, executions=1, cores_milli=2)
    limits.clear_limit(caller_of(made, ROOT, request()), TENANT, None, ["executions"])
    assert made.store.policy().limits.own_amounts(LimitSubject(TENANT)) == {"cores_milli": 2}
    limits.clear_limit(caller_of(made, ROOT, request()), TENANT)
    assert made.store.policy().limits.own_amounts(LimitSubject(TENANT)) == {}
    with pytest.raises(NotFound, match=f"no limit is set for {TENANT}"):
        limits.clear_limit(caller_of(made, ROOT, request()), TENANT)


def test_a_list_has_all_limits_and_the_meters_of_all_that_exist() -> None:
    made = there()
    set_(made, executions=5)
    set_(made, "*", None, executions=9)
    set_(made, TENANT, "*", executions=2)
    told = limits.list_limits(ROOT, made.store)
    assert [(limit.tenant, limit.user) for limit in told.limits] == [("*", None), (TENANT, None), (TENANT, "*")]
    assert [(meter.tenant, meter.user) for meter in told.meters] == [(ELSEWHERE, None), (TENANT, None), (TENANT, USER)]
    assert (told.meters[1].meters["executions"].used, told.meters[1].meters["executions"].limit) == (1, 5)
    assert told.meters[2].meters["executions"].limit == 2


def test_a_list_of_a_tenant_has_its_own_only() -> None:
    made = there()
    set_(made, executions=5)
    set_(made, "*", None, executions=9)
    told = limits.list_limits(ROOT, made.store, ELSEWHERE, "eve")
    assert told.limits == []
    assert [(meter.tenant, meter.user) for meter in told.meters] == [(ELSEWHERE, None), (ELSEWHERE, "eve")]
    assert [limit.tenant for limit in limits.list_limits(ROOT, made.store, "*").limits] == ["*"]
    with pytest.raises(NotFound):
        limits.list_limits(ROOT, made.store, "nothing")
    with pytest.raises(NotFound):
        limits.list_limits(ROOT, made.store, TENANT, "nobody")


def test_a_quota_is_three_limits_of_a_tenant() -> None:
    made, asked = there(), request()
    body = QuotaView(executions_max=4, executions_of_user_max=2, time_limit_s_max=60.0)
    assert limits.set_quota(TENANT, body, caller_of(made, ROOT, asked)) is body
    found = made.store.policy().limits
    assert found.own_amounts(LimitSubject(TENANT)) == {"executions": 4, "time_limit_s": 60.0}
    assert found.own_amounts(LimitSubject(TENANT, "*")) == {"executions": 2}
    assert limits.quota_of(found, TENANT) == body
    assert asked.state.audit_changes["executions_max"] == [None, 4]
    assert made.master.hints == 1
    with pytest.raises(NotFound):
        limits.set_quota("nothing", body, caller_of(made, ROOT, request()))


def test_amount_without_an_own_quota_follows_the_default() -> None:
    made = there()
    set_(made, "*", None, executions=9)
    limits.set_quota(TENANT, QuotaView(executions_max=9, time_limit_s_max=60.0), caller_of(made, ROOT, request()))
    assert made.store.policy().limits.own_amounts(LimitSubject(TENANT)) == {"time_limit_s": 60.0}


@pytest.mark.parametrize(
    ("tenant", "user", "name"),
    [
        ("*", None, "all tenants"),
        ("red", None, "red"),
        ("red", "*", "each user of red"),
        ("*", "*", "each user of all tenants"),
        ("red", "ada", "ada in red"),
    ],
)
def test_a_subject_has_a_name_in_words(tenant: str, user: str | None, name: str) -> None:
    assert limits.name_of(LimitSubject(tenant, user)) == name
