"""Submitting arrays, and changing whole ones: checks, permissions and states."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import application
from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    USER,
    admin,
    caller_of,
    operator,
    person,
    refusal,
    refused_with,
    request,
)
from tests.support.plain_api import services as plain_services
from zoe_api.arrays import modifying as array_modifying
from zoe_api.executions import arrays
from zoe_api.executions.submissions.indices import given_indices
from zoe_api.http.problems.codes import Code
from zoe_api.services.dependencies import Caller
from zoe_client.vocabulary import Holder, IndexState
from zoe_client.wire import ArrayModifyRequest, ArrayRequest
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import RUNS_MAX, Array, execution_of, with_executions
from zoe_lib.domain.executions.events import Requested
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Outcome
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.values import ArrayChange
from zoe_lib.submission.checking import Checked

ID = "a0123456789abcd"
ADA, OLGA = person(), operator()


def services(indices: str = "0-3", active: int = 0, ended: int = 0, **changes: Any) -> Any:
    """Return services whose store has an array; the first of its indices are active or cancelled."""
    found, at_once = parse_array(indices, 100)
    there = plain_services()
    array = Array(
        ID, "many", "iostack", USER, changes.pop("application", application()), 1.0, found, at_once, **changes
    )
    there.store.submit_array(array, "cause")

    def begun(array: Array, states: bytearray) -> ArrayChange:
        return ArrayChange(with_executions(array, states, list(range(active + ended))), "array_modified", {})

    there.store.change_array(ID, begun, 2.0, "cause")
    for position in range(active + ended):
        one = apply(execution_of(there.store.array(ID), position, 2.0), ev.Submitted(at_s=2.0))
        there.store._state.put(one)
        if position < ended:
            over = ev.Refused(at_s=3.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
            there.store.append(one.id, [over], one.version, None)
    return there


def kinds(there: Any) -> list[str]:
    return [entry.kind for entry in there.store.journal(0, 100, execution_id=ID)][2:]


def state_of(there: Any, index: int) -> ExecutionState:
    state: ExecutionState = there.store.execution(f"{ID}_{index}").state
    return state


# -- visibility --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("principal", "seen", "looks"),
    [
        (ADA, True, 0),
        (person(PEER), False, 0),
        (person(tenant=ELSEWHERE), False, 0),
        (OLGA, True, 1),
        (admin(tenant=ELSEWHERE), True, 1),
        (operator(USER), True, 0),
    ],
    ids=str,
)
def test_an_array_is_seen_by_its_owner_and_by_operators_whose_look_is_recorded(
    principal: Principal, seen: bool, looks: int
) -> None:
    there = services()
    if seen:
        assert arrays.seen_array(ID, caller_of(there, principal, request())).id == ID
    else:
        with pytest.raises(NotFound, match=f"array {ID} does not exist"):
            arrays.seen_array(ID, caller_of(there, principal, request()))
    assert [entry.target for entry in there.accounts.entries] == [f"/api/v1/arrays/{ID}"] * looks


def test_owning_takes_both_user_and_tenant() -> None:
    array = services().store.array(ID)
    assert arrays.owns_array(ADA, array)
    assert not arrays.owns_array(person(PEER), array)
    assert not arrays.owns_array(person(tenant=ELSEWHERE), array)


# -- cancel ------------------------------------------------------------------------------------------------------------
def test_to_cancel_ends_indices_and_executions() -> None:
    there = services(active=2)
    array = arrays.cancel(caller_of(there, ADA, request()), ID)
    assert array.counts == {IndexState.CANCELLED: 4}
    assert (state_of(there, 0), state_of(there, 1)) == (ExecutionState.CANCELLED, ExecutionState.CANCELLED)
    assert kinds(there) == ["array_cancelled", "array_ended"]
    again = arrays.cancel(caller_of(there, ADA, request()), ID)  # as with an execution
    assert (again.counts, kinds(there)) == (array.counts, ["array_cancelled", "array_ended"])


def test_without_an_index_that_waits_only_executions_are_cancelled() -> None:
    there = services(active=4)
    assert arrays.cancel(caller_of(there, ADA, request()), ID).counts == {IndexState.CANCELLED: 4}
    assert kinds(there) == ["array_ended"]


def test_indices_to_cancel_have_no_number_at_once() -> None:
    with refusal(Code.INVALID_REQUEST) as found:
        arrays.cancel(caller_of(services(), ADA, request()), ID, "0-1%1")
    assert "%1" in found.problem.detail


# -- hold and release --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("principal", "before", "held"),
    [
        (ADA, None, Holder.USER),
        (OLGA, None, Holder.OPERATOR),
        (OLGA, Holder.USER, Holder.OPERATOR),
        (ADA, Holder.OPERATOR, Holder.OPERATOR),
        (operator(USER), None, Holder.USER),
    ],
)
def test_a_hold_is_of_its_user_or_of_an_operator(principal: Principal, before: Holder | None, held: Holder) -> None:
    there = services(active=1, conditions=Conditions(held=before))
    version = there.store.array(ID).version
    array = arrays.hold(caller_of(there, principal, request()), ID)
    assert array.conditions.held is held
    assert (array.version > version) is (before is not held)
    assert there.store.execution(f"{ID}_0").conditions.held is not None
    if array.version > version:
        (entry,) = [entry for entry in there.store.journal(0, 100, execution_id=ID) if entry.kind == "array_held"]
        assert {**entry.data, "by": held.value, "user": principal.user} == entry.data


def test_a_release_lets_it_and_its_executions_go_on() -> None:
    there = services(active=1)
    arrays.hold(caller_of(there, ADA, request()), ID)
    array = arrays.release(caller_of(there, ADA, request()), ID)
    assert array.conditions.held is None
    assert there.store.execution(f"{ID}_0").conditions.held is None
    assert kinds(there) == ["array_held", "array_released"]
    assert arrays.release(caller_of(there, ADA, request()), ID).version == array.version


def test_hold_by_an_operator_is_released_only_by_operators() -> None:
    there = services(conditions=Conditions(held=Holder.OPERATOR))
    with refusal(Code.HELD_BY_OPERATOR):
        arrays.release(caller_of(there, ADA, request()), ID)
    assert arrays.release(caller_of(there, OLGA, request()), ID).conditions.held is None


@pytest.mark.parametrize("act", [arrays.hold, arrays.release])
def test_ended_array_is_neither_held_nor_released(act: Any) -> None:
    with refusal(Code.ILLEGAL_STATE) as found:
        act(caller_of(services(ended=4), ADA, request()), ID)
    assert found.problem.detail == "it has ended: it is cancelled"


# -- requeue -----------------------------------------------------------------------------------------------------------
@pytest.fixture(autouse=True)
def budgets(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Record whose budgets were checked; prices are no part of these rules."""
    looked: list[tuple[str, str]] = []

    def check(caller: Caller) -> tuple[str, ...]:
        looked.append((caller.tenant, caller.user))
        return ("the budget is near",)

    monkeypatch.setattr(arrays, "check_budget", check)
    monkeypatch.setattr(arrays, "price_notes", lambda *_: ["it costs 1.00 EUR"])
    return looked


def test_cancelled_indices_run_again_at_the_expense_of_their_owner(budgets: list[tuple[str, str]]) -> None:
    there = services(ended=3)
    array = arrays.requeue(caller_of(there, OLGA, request()), ID)
    assert (array.run, array.counts) == (2, {IndexState.WAITING: 4})
    assert budgets == [("iostack", USER)]
    assert kinds(there)[-1] == "array_requeued"


def test_without_an_index_that_failed_nothing_runs_again() -> None:
    there = services()
    assert arrays.requeue(caller_of(there, ADA, request()), ID).run == 1
    assert there.master.hints == 0


@pytest.mark.parametrize(("run", "allowed"), [(RUNS_MAX - 1, True), (RUNS_MAX, False)])
def test_indices_run_a_bounded_number_of_times(run: int, allowed: bool) -> None:
    there = services(ended=1)
    there.store._state.arrays[ID] = changed(there.store.array(ID), run=run)
    if allowed:
        assert arrays.requeue(caller_of(there, ADA, request()), ID).run == RUNS_MAX
        return
    with refusal(Code.ILLEGAL_STATE):
        arrays.requeue(caller_of(there, ADA, request()), ID)


# -- modify ------------------------------------------------------------------------------------------------------------
def modified(there: Any, principal: Principal = ADA, **given: Any) -> Array:
    return array_modifying.modify(caller_of(there, principal, request()), ID, ArrayModifyRequest(**given))


def test_the_row_and_the_executions_that_wait_change_together() -> None:
    there = services("0-3%2", active=1)
    array = modified(there, priority=5, begin_at_s=9.0, time_limit_s=60.0, deadline="2040-01-01T00:00Z")
    assert (array.priority, array.conditions.begin_at_s, array.application.time_limit_s) == (5, 9.0, 60.0)
    assert array.deadline_s == 2208988800.0
    one = Requested.of_execution(there.store.execution(f"{ID}_0"))
    assert (one.priority, one.begin_at_s, one.application.time_limit_s) == (5, 9.0, 60.0)
    assert one.deadline_s == 2208988800.0
    (entry,) = [entry for entry in there.store.journal(2, 100, execution_id=ID) if entry.kind == "array_modified"]
    assert entry.data["what"] == "priority 0 to 5; deadline; begin; time limit none to 60 s"
    assert entry.data["user"] == USER


def test_how_many_are_active_at_once_is_of_the_row_only() -> None:
    there = services("0-3%2", active=1)
    version = there.store.execution(f"{ID}_0").version
    array = modified(there, at_once_max=3)
    assert (array.at_once, array.priority, array.application.time_limit_s) == (3, 0, None)
    assert there.store.execution(f"{ID}_0").version == version
    assert modified(there, at_once_max=None).at_once is None
    what = [entry.data["what"] for entry in there.store.journal(2, 100, execution_id=ID)]
    assert what == ["at once 2 to 3", "at once 3 to any number"]


def test_equal_values_change_nothing() -> None:
    there = services(active=1)
    version = there.store.array(ID).version
    assert modified(there, priority=0, begin_at_s=None).version == version


def test_another_deadline_may_be_missed_again() -> None:
    there = services(deadline_s=2.0)
    there.store._state.arrays[ID] = changed(there.store.array(ID), late_count=3)
    assert modified(there, priority=1).late_count == 3
    assert modified(there, deadline_s=None).late_count is None


def test_ended_array_is_not_changed() -> None:
    with refusal(Code.ILLEGAL_STATE):
        modified(services(ended=4), priority=1)


def test_of_what_is_promised_together_only_the_priority_changes() -> None:
    there = services(application=application(promise=PromiseWish()), deadline_s=1e12)
    assert modified(there, priority=1).priority == 1
    with refusal(Code.ILLEGAL_STATE) as found:
        modified(there, priority=2, at_once_max=1)
    assert found.problem.hint == "cancel it, and submit it again"


def test_only_its_owner_changes_the_description() -> None:
    with refusal(Code.SHARE_TOO_LOW):
        modified(services(), OLGA, application={"name": "x"})


# -- submit ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [("0-3", None, ""), ("0-x", "invalid", ""), ("0-4", "too_many", "submit several arrays")],
)
def test_indices_are_bounded(text: str, code: str | None, hint: str) -> None:
    there = plain_services(array_indices_max=4)
    if code is None:
        found, at_once = given_indices(text, there)
        assert (found.count, at_once) == (4, None)
        return
    problem = refused_with(lambda: given_indices(text, there))
    assert (problem.code, problem.hint) == (Code.INVALID_REQUEST, hint)
    assert [(error.pointer, error.code, error.hint) for error in problem.errors] == [("/indices", code, hint)]


def partners(after: list[str], indices: str = "0-3") -> list[str]:
    body = ArrayRequest(application={}, indices=indices, after=after)
    return list(arrays._partners(body, parse_array(indices, 100)[0], caller_of(services(), ADA)))


def test_an_array_runs_index_by_index_after_another_with_the_same_indices() -> None:
    assert partners([f"corr:{ID}"]) == [ID]
    assert partners([f"ok:{ID}"]) == []
    unknown = refused_with(lambda: partners([f"ok:{ID}", "corr:a0123456789abce"]))
    assert (unknown.errors[0].pointer, unknown.errors[0].code) == ("/after/1", "unknown")
    assert "does not exist" in unknown.detail
    other = refused_with(lambda: partners([f"corr:{ID}"], "0-4"))
    assert other.detail == f"array {ID} has other indices: 0-3"


@pytest.mark.parametrize(("name", "called"), [(None, "sums"), ("mine", "mine")])
def test_an_array_is_made_of_what_was_checked(name: str | None, called: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "check", lambda *_: Checked(application(), 4, ("note",)))
    body = ArrayRequest(application={}, indices="0-3%2", name=name, after=[f"corr:{ID}"], deadline_s=60.0)
    asked = request(headers={"content-length": "100"}, state={"terms": None})
    array = arrays.new_array(body, caller_of(services(), ADA, asked))
    assert (array.name, array.tenant, array.user, array.priority, array.at_once) == (called, "iostack", USER, 4, 2)
    assert (array.indices.count, array.corr, array.conditions) == (4, (ID,), Conditions())
    assert array.deadline_s == pytest.approx(array.submitted_at_s + 60)
    assert [array.notes[0], *array.notes[-2:]] == ["note", "the budget is near", "it costs 1.00 EUR"]
