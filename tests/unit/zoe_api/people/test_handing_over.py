"""The hand-over from a user who leaves, in parts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import application, execution
from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    TENANT,
    USER,
    Master,
    admin,
    after,
    caller_of,
    refusal,
    request,
    services,
)
from zoe_api.http.problems.codes import Code
from zoe_api.people import handing_over
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.store.errors import ConcurrentUpdate, NotFound

MOVED = {"state": "moved", "directory": "from-ada", "message": "done"}


def there(*stored: Any) -> Any:
    made = services(*stored, master=Master(move_workspace=MOVED))
    made.accounts.add_member(USER)
    made.accounts.add_member(PEER)
    handed: list[Any] = []

    class Schedules:
        def hand_over(self, *given: str) -> None:
            handed.append(given)

        hand_over_applications = hand_over

    made.store.schedules = Schedules()
    made.accounts.hand_over_volumes = made.store.schedules.hand_over
    made.handed = handed
    return made


def one(number: int, **changes: Any) -> Any:
    return after(execution(number, **changes), ev.Submitted(at_s=1.0))


def handed_over(made: Any) -> Any:
    return handing_over.hand_over(caller_of(made, admin("root"), request()), TENANT, USER, PEER)


@pytest.mark.parametrize(
    ("role", "disabled", "code"),
    [
        ("user", False, None),
        ("admin", False, None),
        ("viewer", False, Code.ILLEGAL_STATE),
        ("user", True, Code.ILLEGAL_STATE),
    ],
)
def test_an_heir_may_run_and_cancel(role: str, disabled: bool, code: Code | None) -> None:
    made = services().accounts
    made.add_member(USER)
    made.add_member(PEER, role=role, disabled=disabled)
    if code is None:
        handing_over.check_heir(made, TENANT, USER, PEER)
        return
    with refusal(code):
        handing_over.check_heir(made, TENANT, USER, PEER)


def test_an_heir_is_another_member_of_the_tenant() -> None:
    made = services().accounts
    made.add_member(USER)
    made.add_member(PEER, ELSEWHERE)
    with refusal(Code.INVALID_REQUEST):
        handing_over.check_heir(made, TENANT, USER, USER)
    with pytest.raises(NotFound, match="bob is not a member of iostack"):
        handing_over.check_heir(made, TENANT, USER, PEER)
    for user, to in (("nobody", PEER), (USER, "nobody")):
        with pytest.raises(NotFound):
            handing_over.check_heir(made, TENANT, user, to)


def test_executions_arrays_schedules_and_files_get_the_new_owner() -> None:
    ended = after(one(2), ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS))
    made = there(one(1), ended, one(3, user="eve"), one(4, tenant=ELSEWHERE))
    array = Array("a0123456789abcd", "many", TENANT, USER, application(), 1.0, parse_array("0-1", 9)[0])
    made.store.submit_array(array, "cause")
    told = handed_over(made)
    users = {number: made.store.execution(f"execution-{number:04}").user for number in range(1, 5)}
    assert users == {1: PEER, 2: PEER, 3: "eve", 4: USER}
    assert made.store.array(array.id).user == PEER
    assert made.handed == [(TENANT, USER, PEER)] * 3
    assert (told.executions, told.executions_left, told.files) == (2, False, "moved")
    assert (told.directory, told.message) == ("from-ada", "done")
    assert (made.accounts.user(USER).disabled, made.accounts.ended_access) == (True, [USER])
    assert made.master.asked[0] == (
        "move_workspace",
        {"tenant": TENANT, "user": USER, "to": PEER},
        "request-1",
        "root",
    )


def test_files_wait_until_all_executions_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing_over, "EXECUTIONS_MAX", 2)
    made = there(one(1), one(2), one(3))
    told = handed_over(made)
    assert (told.executions, told.executions_left, told.files) == (2, True, "waiting")
    assert made.master.asked == []
    told = handed_over(made)
    assert (told.executions, told.executions_left, told.files) == (1, False, "moved")


def test_execution_ended_meanwhile_is_handed_over_in_the_same_part() -> None:
    made = there(one(1))
    append = made.store.append

    def busy(*_: Any) -> Any:
        ended = after(one(1), ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS))
        made.store._state.put(ended)
        made.store.append = append
        raise ConcurrentUpdate("ended")

    made.store.append = busy
    assert handing_over._executions(made.store, TENANT, USER, PEER, "r") == (1, False)
    assert made.store.execution("execution-0001").user == PEER


def test_execution_that_changes_too_often_is_left_too() -> None:
    made, tries = there(one(1)), []

    def busy(*_: Any) -> Any:
        tries.append(1)
        raise ConcurrentUpdate("busy")

    made.store.append = busy
    assert handing_over._executions(made.store, TENANT, USER, PEER, "r") == (0, True)
    assert len(tries) == 5
