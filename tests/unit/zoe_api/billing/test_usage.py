"""Use by day and by execution: its owners, and its units."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    TENANT,
    USER,
    Master,
    caller_of,
    operator,
    person,
    request,
    services,
)
from zoe_api.billing import usage
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.executions.use import DAY_S, DayOfUser, ResourceSeconds
from zoe_lib.store.people import Principal
from zoe_lib.store.values import ExecutionUse

STORED = (execution(1), execution(2, user=PEER), execution(3, tenant=ELSEWHERE))


def sample(one: Any) -> dict[str, Any]:
    return {
        "execution_id": one.id,
        "service_id": "s",
        "node": "n",
        "at_s": 1.0,
        "cpu_s": 2.0,
        "memory_bytes": 3,
    }


@pytest.mark.parametrize(("principal", "seen"), [(person(), [1]), (person(PEER), [2]), (operator(), [1, 2, 3])])
def test_users_see_the_present_use_of_what_they_see(principal: Principal, seen: list[int]) -> None:
    master = Master(usage={"usage": [sample(execution) for execution in STORED]})
    told = usage.current_usage(caller_of(None, principal, request()), services(*STORED).store, master)
    assert [usage.execution_id for usage in told.usage] == [f"execution-{n:04}" for n in seen]


@pytest.mark.parametrize(("principal", "seen", "looks"), [(person(), [1], 0), (operator(), [1, 2, 3], 1)])
def test_the_use_of_executions_is_of_those_that_are_visible(principal: Principal, seen: list[int], looks: int) -> None:
    made = services(*STORED)
    made.store.use_of = lambda ids, _: [ExecutionUse(id_, 5.0) for id_ in sorted(ids)]
    told = usage.usage_of_executions(caller_of(made, principal, request()), [execution.id for execution in STORED])
    assert [use.execution_id for use in told.use] == [f"execution-{n:04}" for n in seen]
    assert len(made.accounts.entries) == looks


def daily(principal: Principal, from_s: float = 0.0, to_s: float | None = None, **given: Any) -> tuple[Any, Any]:
    made, asked = services(), list[Any]()
    accept = given.pop("accept", "")
    found = {
        DayOfUser(2, TENANT, "bob"): ResourceSeconds(3600.0, 3600.0 * 2**30, 2**30),
        DayOfUser(1, TENANT, USER): ResourceSeconds(7200.0, 0.0, 0.0),
        DayOfUser(2, TENANT, "amy"): ResourceSeconds(),
    }
    made.store.daily_use = lambda *of: asked.append(of) or found
    return usage.daily_usage(
        SYSTEM_CLOCK, caller_of(made, principal, request(headers={"accept": accept})), made.store, from_s, to_s, **given
    ), asked


def test_days_are_in_order_and_amounts_in_hours() -> None:
    told, asked = daily(person(), 1.5 * DAY_S, 3.5 * DAY_S)
    assert asked[0][:2] == (1, 3)
    assert asked[0][3] == TENANT
    assert daily(operator())[1][0][3] is None
    assert [(day.day, day.user) for day in told.days] == [
        ("1970-01-02", USER),
        ("1970-01-03", "amy"),
        ("1970-01-03", "bob"),
    ]
    assert (told.days[0].core_hours, told.days[2].memory_gib_hours, told.days[2].store_gib) == (2.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("form", "accept", "as_csv"),
    [("csv", "", True), (None, "text/csv", True), (None, "", False), ("json", "text/csv", False)],
)
def test_days_are_a_table_if_it_is_asked_for(form: Any, accept: str, as_csv: bool) -> None:
    told, _ = daily(person(), form=form, accept=accept)
    if not as_csv:
        assert len(told.days) == 3
        return
    rows = list(csv.DictReader(io.StringIO(told.body.decode())))
    assert [row["user"] for row in rows] == [USER, "amy", "bob"]
    assert told.headers["content-disposition"] == 'attachment; filename="zoe-usage.csv"'


def test_a_quota_is_of_the_tenant_and_of_the_user_in_it() -> None:
    made = services(*STORED, execution(4))
    made.store.change_limits(
        lambda now: now.with_changed_amounts(LimitSubject(TENANT), {"executions": 9, "time_limit_s": 60.0}), 1.0, "c"
    )
    told = usage.get_quota(person(), made.store)
    assert (told.tenant, told.time_limit_s_max) == (TENANT, 60.0)
    assert (told.executions.used, told.executions.limit) == (3, 9)
    assert told.executions_of_user.used == 2
