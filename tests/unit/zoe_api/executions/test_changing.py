"""Changing an execution: permissions, versions, and stored events."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import PEER, REQUEST_ID, TENANT, after, caller_of, person, refusal, request, services
from zoe_api.executions.changing import change
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.store.errors import ConcurrentUpdate, NotFound

WAITING = after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))


def held(_: Any = None) -> ev.Event:
    return ev.Held(at_s=time.time(), cause_id=REQUEST_ID, by="user", user="ada")


def changed(made: Any, decide: Any = held, user: str = "ada", if_match: str | None = None) -> Any:
    return change(caller_of(made, person(user), request()), WAITING.id, if_match, decide)


def kinds(made: Any) -> list[str]:
    return [entry.kind for entry in made.store.journal(0, 100)]


def test_the_event_is_written_and_the_master_hears_of_it() -> None:
    made = services(WAITING)
    assert changed(made).conditions.held == "user"
    assert made.store.execution(WAITING.id).version == WAITING.version + 1
    assert (kinds(made), made.master.hints) == (["held"], 1)


def test_without_an_event_nothing_changes() -> None:
    made = services(WAITING)
    assert changed(made, lambda _: None) == WAITING
    assert (kinds(made), made.master.hints) == ([], 0)


def test_it_takes_the_level_to_control() -> None:
    made = services(WAITING)
    with pytest.raises(NotFound):
        changed(made, user=PEER)
    made.accounts.shared[WAITING.id, TENANT, PEER] = ShareLevel.OPEN
    with refusal(Code.SHARE_TOO_LOW):
        changed(made, user=PEER)
    made.accounts.shared[WAITING.id, TENANT, PEER] = ShareLevel.CONTROL
    assert changed(made, user=PEER).conditions.held


def test_another_version_than_the_client_saw_is_left_alone() -> None:
    made = services(WAITING)
    with refusal(Code.VERSION_MISMATCH):
        changed(made, if_match='"99"')
    assert changed(made, if_match=f'"{WAITING.version}"').conditions.held


def test_a_deadline_that_passed_while_the_master_was_away_is_noted_first() -> None:
    late = after(execution(1, deadline_s=5.0), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))
    made = services(late)
    changed(made)
    assert kinds(made) == ["deadline_missed", "held"]


@pytest.mark.parametrize(("busy", "works"), [(4, True), (5, False)])
def test_it_is_decided_anew_when_another_writer_was_faster_but_not_for_ever(busy: int, works: bool) -> None:
    made, tries = services(WAITING), []
    write = made.store.append

    def append(*given: Any) -> Any:
        tries.append(given)
        if len(tries) <= busy:
            raise ConcurrentUpdate("faster")
        return write(*given)

    made.store.append = append
    if works:
        assert changed(made).conditions.held
    else:
        with refusal(Code.CONFLICT) as found:
            changed(made)
        assert "too often" in found.problem.detail
        assert made.master.hints == 0
    assert len(tries) == 5
