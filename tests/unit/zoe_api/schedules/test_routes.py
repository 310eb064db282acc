"""Schedules: owners, holds, and limits on early submissions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import PEER, TENANT, USER, caller_of, operator, person, refusal, request, services
from zoe_api.http.problems.codes import Code
from zoe_api.schedules import routes as schedules
from zoe_api.schedules.times import wrong_ahead, wrong_times
from zoe_client.wire import ScheduleRequest
from zoe_lib.domain.values.frozen import changed
from zoe_lib.schedules.values import Schedule, ScheduleRun
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal

HOUR_S = 3600.0


def schedule(**given: Any) -> Schedule:
    body = {"expression": "0 * * * *", "application": "nightly", **given}
    return schedules._schedule("mine", ScheduleRequest(**body), person(), 0.0)


class Stored:
    def __init__(self, *found: Schedule) -> None:
        self.found = {(schedule.tenant, schedule.user, schedule.name): schedule for schedule in found}
        self.removed: list[Any] = []

    def one(self, tenant: str, user: str, name: str) -> Schedule:
        if (tenant, user, name) not in self.found:
            raise NotFound(name)
        return self.found[tenant, user, name]

    def change(self, before: Schedule, after: Schedule) -> Schedule:
        self.found[after.tenant, after.user, after.name] = after
        return after

    def last_runs(self, _: object) -> dict[str, ScheduleRun]:
        return {}

    def remove(self, *of: str) -> None:
        self.removed.append(of)


def there(**changes: Any) -> Any:
    made = services()
    made.store.schedules = Stored(changed(schedule(), **changes))
    return made


def test_a_schedule_is_its_makers_and_has_only_what_was_given() -> None:
    made = schedule(priority=3, parameters={"a": 1}, overlap="allow", missed="skip", jitter_s=5.0, ahead_s=10.0)
    assert (made.tenant, made.user, made.name, made.zone) == (TENANT, USER, "mine", "UTC")
    assert made.options == {"priority": 3, "ahead_s": 10.0}
    assert (made.overlap, made.missed, made.jitter_s, made.parameters) == ("allow", "skip", 5.0, {"a": 1})
    assert (made.held, made.held_by_operator, made.due_s, made.count, made.version) == (False, False, None, 1, None)
    assert (made.made_at_s, made.planned_at_s, made.id[0], len(made.id)) == (0.0, 0.0, "s", 25)


@pytest.mark.parametrize(
    ("given", "field"), [({"expression": "61 * * * *"}, "/expression"), ({"zone": "Nowhere/X"}, "/zone")]
)
def test_times_that_cannot_be_understood_are_refused(given: dict[str, Any], field: str) -> None:
    made = schedule(**given)
    assert [time_.pointer for time_ in wrong_times(made.expression, made.zone)] == [field]


@pytest.mark.parametrize(
    ("ahead_s", "jitter_s", "overlap", "why"),
    [
        (3599.0, 0.0, "skip", ""),
        (3600.0, 0.0, "skip", "its runs may begin 3600 s apart"),
        (3600.0, 0.0, "allow", ""),
        (3500.0, 100.0, "skip", "its runs may begin 3500 s apart"),
        (3499.0, 100.0, "queue", ""),
        (10 * HOUR_S, 0.0, "allow", ""),
        (10 * HOUR_S + 1, 0.0, "allow", "more than 10 of its runs would wait at once"),
    ],
)
def test_runs_are_submitted_ahead_within_bounds(ahead_s: float, jitter_s: float, overlap: str, why: str) -> None:
    found = wrong_ahead(schedule(ahead_s=ahead_s, jitter_s=jitter_s, overlap=overlap), 0.0)
    assert [(diagnostic.pointer, diagnostic.message[: len(why)]) for diagnostic in found] == (
        [("/ahead_s", why)] if why else []
    )


# -- whose it is -------------------------------------------------------------------------------------------------------
def test_another_users_schedule_is_for_operators_whose_look_is_recorded() -> None:
    made = there()
    assert schedules._visible_schedule(caller_of(made, person(), request()), "mine", None).user == USER
    assert schedules._visible_schedule(caller_of(made, person(), request()), "mine", USER).user == USER
    assert made.accounts.entries == []
    assert schedules._visible_schedule(caller_of(made, operator(), request()), "mine", USER).user == USER
    assert [entry.target for entry in made.accounts.entries] == ["/api/v1/schedules/mine"]
    with refusal(Code.ROLE_MISSING):
        schedules._visible_schedule(caller_of(made, person(PEER), request()), "mine", USER)
    with pytest.raises(NotFound):
        schedules._visible_schedule(caller_of(made, operator(), request()), "mine", None)


# -- holds -------------------------------------------------------------------------------------------------------------
def hold(principal: Principal, **changes: Any) -> Schedule:
    made = there(**changes)
    schedules.hold_schedule("mine", caller_of(made, principal, request()), USER)
    found: Schedule = made.store.schedules.one(TENANT, USER, "mine")
    return found


@pytest.mark.parametrize(
    ("principal", "held", "by_operator", "after"),
    [
        (person(), False, False, False),
        (operator(), False, False, True),
        (operator(), True, False, True),
        (operator(), True, True, True),
        (person(), True, True, True),
        (operator(USER), False, False, False),
        (operator(USER), True, True, True),
    ],
)
def test_the_hold_of_an_operator_is_stronger(principal: Principal, held: bool, by_operator: bool, after: bool) -> None:
    found = hold(principal, held=held, held_by_operator=by_operator)
    assert (found.held, found.held_by_operator) == (True, after)


def test_a_release_leaves_out_what_passed_meanwhile() -> None:
    made = there(held=True, due_s=HOUR_S, next_at_s=HOUR_S)
    view = schedules.release_schedule("mine", caller_of(made, person(), request()))
    found = made.store.schedules.one(TENANT, USER, "mine")
    assert (found.held, found.held_by_operator, view.held) == (False, False, False)
    assert found.due_s == found.next_at_s > found.planned_at_s > 1e9
    assert found.due_s - found.planned_at_s <= HOUR_S
    again = there(due_s=HOUR_S)
    schedules.release_schedule("mine", caller_of(again, person(), request()))
    assert again.store.schedules.one(TENANT, USER, "mine").due_s == HOUR_S


def test_hold_by_an_operator_is_released_only_by_operators() -> None:
    made = there(held=True, held_by_operator=True)
    with refusal(Code.HELD_BY_OPERATOR):
        schedules.release_schedule("mine", caller_of(made, person(), request()))
    assert not schedules.release_schedule("mine", caller_of(made, operator(), request()), USER).held
