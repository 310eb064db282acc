"""Why arrays wait, before and after their indices have executions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import application
from tests.support.plain_api import after, services
from zoe_api.access.wire_forms import waits_for
from zoe_api.arrays.waiting import reason_of_array, reasons_of_arrays
from zoe_client.vocabulary import ExecutionState, Holder, IndexState, ReasonCode
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array, execution_of
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.finish_times import PromiseOffers, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.reasons import Reason

ID = "a0123456789abcd"
FULL = Reason(ReasonCode.NO_RESOURCES, "No node has room.")


def array(indices: str = "0-9", **changes: Any) -> Array:
    found, at_once = parse_array(indices, 100)
    return Array(ID, "many", "iostack", "ada", application(), 1.0, found, at_once, **changes)


def told(one: Array, executions: int = 0, policy: Policy | None = None) -> Reason | None:
    """Return the reason of an array whose first indices are queued."""
    found = services()
    if policy is not None:
        found.store._state.policy = policy
    stored = found.store.submit_array(one, "cause")
    for position in range(executions):
        queued = after(execution_of(stored, position, 1.0), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))
        found.store._state.put(replace(queued, reason=FULL if position == 0 else None))
    active = {ExecutionState.QUEUED: executions} if executions else {}
    reason = reason_of_array(found, stored, active)
    assert reasons_of_arrays(found, [stored], {ID: active}).get(ID) == reason
    return reason


def test_its_own_conditions_come_first() -> None:
    held = told(array(conditions=Conditions(held=Holder.USER)))
    later = told(array(conditions=Conditions(begin_at_s=9e9)))
    assert (held and held.code, later and later.code) == (ReasonCode.HELD, ReasonCode.BEGIN_TIME)


def test_its_first_execution_in_the_queue_has_the_reason() -> None:
    assert told(array(), executions=3) == FULL


def test_an_array_that_the_master_has_not_seen_has_no_reason_yet() -> None:
    assert told(array()) is None


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"tenant_limits": {"iostack": {"executions": 0}}}, ReasonCode.TENANT_LIMIT),
        ({"user_limits": {"iostack": {"executions": 0}}}, ReasonCode.USER_LIMIT),
    ],
)
def test_a_limit_of_executions_is_named(limits: Any, code: ReasonCode) -> None:
    reason = told(array(), policy=Policy(**limits))
    assert reason is not None
    assert (reason.code, reason.sentence.startswith("No more executions may begin")) == (code, True)


def test_its_own_maximum_is_named_while_others_run() -> None:
    found, running = services(), {ExecutionState.RUNNING: 2}
    some = changed(array("0-9%2"), counts={IndexState.ACTIVE: 2, IndexState.WAITING: 8})
    reason = reason_of_array(found, some, running)
    assert reason is not None
    assert reason.sentence.startswith("At most 2 indices are active at once")
    assert reasons_of_arrays(found, [some], {ID: running}) == {}  # in a list, numbers of indices say more
    assert reason_of_array(found, changed(some, counts={IndexState.ACTIVE: 2}), running) is None


def test_an_array_after_the_same_indices_of_another_one_says_so() -> None:
    reason = told(array(corr=("a0123456789abce",)))
    assert reason is not None
    assert reason.sentence == "Each index runs after the same index of another array."


PROMISED = replace(application(), promise=PromiseWish())
OFFERS = PromiseOffers("two nodes are missing", 9e9)


def joint(**changes: Any) -> Array:
    return replace(array("0-2%1", deadline_s=500.0, **changes), application=PROMISED)


def test_offers_come_first_and_a_hold_is_named_with_them() -> None:
    found, one = services(), joint(conditions=Conditions(held=Holder.USER))
    stored = found.store.submit_array(one, "cause")
    found.store._state.put(replace(execution_of(stored, 0, 1.0), offers=OFFERS))
    reason = reason_of_array(found, stored, {ExecutionState.SUBMITTED: 3})
    assert reason is not None
    assert reason.code == ReasonCode.PROMISE
    assert reason.sentence.endswith("It is held.")
    assert reason.hint.endswith("; `zoe release` lets it into the queue")


def test_a_promised_array_waits_for_its_own_limit() -> None:
    found = services()
    stored = changed(found.store.submit_array(joint(), "cause"), counts={IndexState.ACTIVE: 3})
    second = execution_of(stored, 1, 1.0)
    found.store._state.put(second)
    reason = reason_of_array(found, stored, {ExecutionState.RUNNING: 1, ExecutionState.SUBMITTED: 2})
    assert reason is not None
    assert (reason.sentence.startswith("At most one index is active at once"), reason.hint) == (True, "")
    lane = waits_for(second)
    assert lane is not None
    assert lane.sentence == f"It runs after {ID}_0: its array limits how many indices run at once."
