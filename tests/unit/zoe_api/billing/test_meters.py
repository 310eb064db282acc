"""How much of its limits a tenant or a user has reached."""

from __future__ import annotations

from zoe_api.billing.meters import meters
from zoe_lib.domain.executions.limits import AMOUNTS, AMOUNTS_OF_USERS, Limits, LimitSubject


def test_each_amount_that_is_limited_has_a_meter_but_time_limits_are_used_up_by_nobody() -> None:
    tenant, user = LimitSubject("red"), LimitSubject("red", "ada")
    limits = Limits().with_changed_amounts(tenant, {"cores_milli": 4000}).with_changed_amounts(user, {"executions": 3})
    uses = {tenant: {"cores_milli": 1500, "executions": 7}, user: {"executions": 2}}
    told = meters(limits, uses, tenant)
    assert told.keys() == set(AMOUNTS) - {"time_limit_s"}
    assert (told["cores_milli"].used, told["cores_milli"].limit) == (1500, 4000)
    assert (told["executions"].used, told["executions"].limit) == (7, None)
    of_user = meters(limits, uses, user)
    assert of_user.keys() == set(AMOUNTS_OF_USERS)
    assert (of_user["executions"].used, of_user["executions"].limit) == (2, 3)
    assert meters(limits, {}, tenant)["memory_bytes"].used == 0
