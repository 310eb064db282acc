"""Visibility of executions, access by shares, and recorded looks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import application, execution
from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    STRANGER,
    TENANT,
    USER,
    admin,
    caller_of,
    operator,
    person,
    refusal,
    request,
    services,
)
from zoe_api.access import visibility
from zoe_api.http.problems.codes import Code
from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.arrays import CODES, Array
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal, Token

LOOK, OPEN, CONTROL = ShareLevel.LOOK, ShareLevel.OPEN, ShareLevel.CONTROL
MINE = execution(1)


def there(given: ShareLevel | None = None) -> Any:
    made = services(MINE)
    if given is not None:
        made.accounts.shared[MINE.id, TENANT, PEER] = given
    return made


def seen(made: Any, principal: Principal, level: ShareLevel = LOOK, execution_id: str = MINE.id) -> Any:
    return visibility.seen_execution(caller_of(made, principal, request()), execution_id, level)


def unseen(made: Any, principal: Principal, execution_id: str = MINE.id) -> str:
    with pytest.raises(NotFound) as refused:
        seen(made, principal, execution_id=execution_id)
    return str(refused.value)


@pytest.mark.parametrize("level", ShareLevel)
def test_an_owner_does_everything_and_no_look_is_recorded(level: ShareLevel) -> None:
    made = there()
    assert seen(made, person(), level) == MINE
    assert visibility.entered_execution(caller_of(made, person(), request()), MINE.id, level) == MINE
    assert made.accounts.entries == []


@pytest.mark.parametrize(
    "principal",
    [person(PEER), person(USER, tenant=ELSEWHERE), person(STRANGER, tenant=ELSEWHERE), person(PEER, "viewer")],
    ids=str,
)
def test_an_execution_of_others_looks_like_one_that_does_not_exist(principal: Principal) -> None:
    assert unseen(there(), principal) == unseen(services(), principal) == "execution execution-0001 does not exist"


@pytest.mark.parametrize(
    ("given", "level", "allowed"),
    [
        (LOOK, LOOK, True),
        (LOOK, OPEN, False),
        (LOOK, CONTROL, False),
        (OPEN, LOOK, True),
        (OPEN, OPEN, True),
        (OPEN, CONTROL, False),
        (CONTROL, LOOK, True),
        (CONTROL, CONTROL, True),
    ],
)
def test_a_share_gives_its_level_and_those_below(given: ShareLevel, level: ShareLevel, allowed: bool) -> None:
    made = there(given)
    if allowed:
        assert seen(made, person(PEER), level) == MINE
        assert visibility.entered_execution(caller_of(made, person(PEER), request()), MINE.id, level) == MINE
        return
    with refusal(Code.SHARE_TOO_LOW) as found:
        seen(made, person(PEER), level)
    assert found.problem.detail == f"it is shared with you for `{given}`"
    assert found.problem.hint == f"ask ada to share it for `{level}`"


@pytest.mark.parametrize("principal", [operator(), admin(), operator(tenant=ELSEWHERE)], ids=str)
def test_operators_see_all_of_them_and_their_look_is_recorded(principal: Principal) -> None:
    made = there()
    assert seen(made, principal, CONTROL) == MINE
    (entry,) = made.accounts.entries
    assert (entry.user, entry.action, entry.status) == (principal.user, "look", 200)
    assert entry.target == f"/api/v1/executions/{MINE.id}"


def test_operators_do_not_enter_what_is_not_shared_with_them() -> None:
    made = there()
    with refusal(Code.SHARE_TOO_LOW) as found:
        visibility.entered_execution(caller_of(made, operator(), request()), MINE.id, OPEN)
    assert found.problem.hint == "ask ada to share it for `open`"
    made.accounts.shared[MINE.id, TENANT, "olga"] = OPEN
    assert visibility.entered_execution(caller_of(made, operator(), request()), MINE.id, OPEN) == MINE
    with pytest.raises(NotFound):
        visibility.entered_execution(caller_of(made, operator(), request()), "nothing", OPEN)
    with pytest.raises(NotFound):
        visibility.entered_execution(caller_of(made, person(STRANGER), request()), MINE.id, OPEN)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a0123456789abcd",
            "a0123456789abcd is an array, not an execution; its executions have ids such as a0123456789abcd_0",
        ),
        ("w0123456789abcd", "w0123456789abcd is a workflow, not an execution; name the execution of a step"),
        ("a0123456789abcd_3", "execution a0123456789abcd_3 does not exist"),
        ("w0123", "execution w0123 does not exist"),
        ("x0123456789abcd", "execution x0123456789abcd does not exist"),
    ],
)
def test_the_id_of_something_else_is_told(text: str, sentence: str) -> None:
    assert unseen(services(), person(), text) == sentence


def test_secrets_are_for_owners_and_operators() -> None:
    assert visibility.may_see_secrets(person(), MINE)
    assert visibility.may_see_secrets(operator(tenant=ELSEWHERE), MINE)
    assert not visibility.may_see_secrets(person(PEER), MINE)
    assert not visibility.may_see_secrets(person(USER, tenant=ELSEWHERE), MINE)


def test_owning_takes_both_user_and_tenant() -> None:
    assert visibility.is_owner(person(), MINE)
    assert not visibility.is_owner(person(PEER), MINE)
    assert not visibility.is_owner(person(USER, tenant=ELSEWHERE), MINE)


def token_of(made: Any, user: str, role: str = "user") -> Principal:
    made.accounts.add_member(user, role=role)
    made.accounts.add_token(Token("t", user, TENANT, "", frozenset({"read", "submit", "operate"}), 0.0))
    return person(user, role, token_id="t")


@pytest.mark.parametrize(
    ("user", "role", "given", "level", "goes_on"),
    [
        (USER, "user", None, CONTROL, True),
        ("olga", "operator", None, CONTROL, True),
        (PEER, "user", None, LOOK, False),
        (PEER, "user", LOOK, LOOK, True),
        (PEER, "user", LOOK, OPEN, False),
    ],
)
def test_a_stream_goes_on_while_its_execution_is_visible(
    user: str, role: str, given: ShareLevel | None, level: ShareLevel, goes_on: bool
) -> None:
    made = there(given)
    principal = token_of(made, user, role)
    assert visibility.confirmed_visible(caller_of(made, principal), MINE, level) is goes_on
    assert visibility.still_visible(caller_of(made, principal), MINE, level) is goes_on
    assert visibility.confirmed_visible(caller_of(made, principal), None, level) is True
    made.accounts.stored_tokens.clear()
    assert visibility.confirmed_visible(caller_of(made, principal), MINE, level) is False
    made.accounts.away = True
    assert visibility.confirmed_visible(caller_of(made, principal), MINE, level) is None
    assert visibility.still_visible(caller_of(made, principal), MINE, level)


def test_a_share_that_cannot_be_read_is_neither_there_nor_gone() -> None:
    made = there(LOOK)
    principal = token_of(made, PEER)

    def away(*_: str) -> ShareLevel:
        made.accounts.away = True
        made.accounts._check()
        raise AssertionError

    made.accounts.shared_level = away
    assert visibility.confirmed_visible(caller_of(made, principal), MINE) is None


def test_owners_and_operators_may_do_all_and_others_what_is_shared() -> None:
    other, third = execution(2, user=PEER), execution(3, user=STRANGER)
    made = services(MINE, other, third)
    made.accounts.shared[other.id, TENANT, USER] = OPEN
    everything = [MINE, other, third]
    assert visibility.levels_of(caller_of(made, person()), everything) == {
        MINE.id: CONTROL,
        other.id: OPEN,
        third.id: LOOK,
    }
    assert set(visibility.levels_of(caller_of(made, operator()), everything).values()) == {CONTROL}
    assert visibility.levels_of(caller_of(made, person()), []) == {}


def test_an_index_without_an_execution_is_named_to_those_who_see_its_array() -> None:
    made, indices = services(), parse_array("0-2", 9)[0]
    made.store.submit_array(Array("a0123456789abcd", "many", TENANT, USER, application(), 1.0, indices), "cause")
    made.store._state.array_states["a0123456789abcd"][1] = CODES[IndexState.CANCELLED]
    found = [unseen(made, person(), f"a0123456789abcd_{index}") for index in (0, 1, 99)]
    assert found == [
        "a0123456789abcd_0 has no execution yet: index 0 of array a0123456789abcd waits with its array",
        "execution a0123456789abcd_1 does not exist; index 1 of array a0123456789abcd is cancelled",
        "array a0123456789abcd has no index 99; its indices are 0-2",
    ]
    assert unseen(made, person(PEER), "a0123456789abcd_0") == "execution a0123456789abcd_0 does not exist"
