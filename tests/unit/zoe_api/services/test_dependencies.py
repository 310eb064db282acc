"""Versions seen by a client, requests to the master, and the limit on checked descriptions."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.support.plain_api import Master, caller_of, person, refusal, request, services
from zoe_api.http.problems.codes import Code
from zoe_api.services import dependencies
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable


@pytest.mark.parametrize("if_match", [None, "*", '"3"', '"1", "3"', ' "3" ,"9"'])
def test_a_client_that_saw_this_version_may_change_it(if_match: str | None) -> None:
    dependencies.check_if_match(if_match, 3)


@pytest.mark.parametrize("if_match", ["", '"2"', '"4"', "3", '"33"', 'W/"3"', '"1","2"'])
def test_a_client_that_saw_another_version_does_not(if_match: str) -> None:
    with refusal(Code.VERSION_MISMATCH) as found:
        dependencies.check_if_match(if_match, 3)
    assert found.problem.detail == "its version is now 3"


def test_a_question_has_the_id_of_its_request() -> None:
    master = Master(usage={"usage": []})
    assert dependencies.ask(master, "usage", {"a": 1}, request(), "ada") == {"usage": []}
    assert master.asked == [("usage", {"a": 1}, "request-1", "ada")]


def test_a_refusal_of_the_master_is_an_answer_and_its_silence_an_error() -> None:
    with refusal(Code.PLAN_BUSY):
        dependencies.ask(Master(plan=MasterRefused("plan_busy", "busy")), "plan", {}, request())
    with pytest.raises(MasterUnreachable):
        dependencies.ask(Master(plan=MasterUnreachable("away")), "plan", {}, request())


def test_each_user_has_four_descriptions_checked_at_a_time_and_all_sixteen() -> None:
    there = services()
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(dependencies.checking(caller_of(there, person("ada"))))
        with refusal(Code.CHECK_BUSY) as found, dependencies.checking(caller_of(there, person("ada"))):
            pass
        assert "four checks of yours" in found.problem.hint
        for user in ("b", "c", "d"):
            for _ in range(4):
                held.enter_context(dependencies.checking(caller_of(there, person(user))))
        with refusal(Code.CHECK_BUSY), dependencies.checking(caller_of(there, person("e"))):
            pass
    with dependencies.checking(caller_of(there, person("ada"))):
        pass
