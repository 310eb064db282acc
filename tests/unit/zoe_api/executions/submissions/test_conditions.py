"""Dependencies, holds and times of submissions."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.applications import application, execution
from tests.support.plain_api import ELSEWHERE, PEER, USER, caller_of, operator, person, refused_with, services
from zoe_api.access.visibility import visible_array
from zoe_api.executions.submissions.conditions import conditions_of
from zoe_api.http.problems.codes import Code
from zoe_client.vocabulary import DependencyKind, Holder
from zoe_client.wire import SubmitRequest
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions, Dependency

MINE, OURS, THEIRS = execution(1), execution(2, user=PEER), execution(3, tenant=ELSEWHERE)
ARRAY = "a0123456789abcd"


def there() -> Any:
    made = services(MINE, OURS, THEIRS)
    indices, _ = parse_array("0-3", 10)
    made.store.submit_array(Array(ARRAY, "many", "iostack", USER, application(), 1.0, indices), "cause")
    return made


def one(**given: Any) -> SubmitRequest:
    return SubmitRequest(application={}, **given)


def found(*bodies: SubmitRequest, batch: bool = False, principal: Any = None) -> list[Conditions]:
    ids = [f"new-{number}" for number in range(len(bodies))]
    return conditions_of(bodies, ids, caller_of(there(), principal or person()), batch)


def test_without_a_wish_there_are_no_conditions() -> None:
    assert found(one()) == [NO_CONDITIONS]


def test_each_wish_is_a_condition() -> None:
    assert found(one(hold=True)) == [Conditions(held=Holder.USER)]
    assert found(one(begin_at_s=5.0)) == [Conditions(begin_at_s=5.0)]
    assert found(one(begin_at_s=0.0)) == [Conditions(begin_at_s=0.0)]
    (later,) = found(one(begin_in_s=60.0))
    assert later.begin_at_s is not None
    assert 59 < later.begin_at_s - time.time() <= 60


def test_it_runs_after_what_its_user_sees() -> None:
    (after,) = found(one(after=[f"ok:{MINE.id}", f"any:{ARRAY}"], keep=True))
    assert after.after == (Dependency(DependencyKind.OK, MINE.id), Dependency(DependencyKind.ANY, ARRAY))
    assert after.keep


@pytest.mark.parametrize("unseen", [OURS.id, THEIRS.id, "execution-0009", "a0123456789abce"])
def test_it_does_not_run_after_what_its_user_does_not_see(unseen: str) -> None:
    problem = refused_with(lambda: found(one(after=[f"ok:{MINE.id}", f"ok:{unseen}"])))
    assert problem.code == Code.INVALID_REQUEST
    assert problem.detail == f"execution {unseen} does not exist, or you may not see it"
    assert [(error.pointer, error.code) for error in problem.errors] == [("/after/1", "unknown")]


def test_an_operator_runs_after_all_of_the_tenant() -> None:
    (after,) = found(one(after=[f"ok:{OURS.id}", f"ok:{ARRAY}"]), principal=operator())
    assert [dependency.on for dependency in after.after] == [OURS.id, ARRAY]


def test_in_a_batch_one_runs_after_those_before_it() -> None:
    _, second = found(one(), one(after=["ok:#0"]), batch=True)
    assert second.after == (Dependency(DependencyKind.OK, "new-0"),)
    problem = refused_with(lambda: found(one(after=["ok:#1"]), one(after=["ok:#1"]), batch=True))
    assert [error.pointer for error in problem.errors] == ["/executions/0/after/0", "/executions/1/after/0"]
    assert problem.detail == "#1: it must come before this one in the batch"
    alone = refused_with(lambda: found(one(after=["ok:#0"])))
    assert alone.detail == "#0: only a batch has executions with numbers"
    assert alone.errors[0].pointer == "/after/0"


def test_an_array_is_visible_to_its_owner_and_to_operators() -> None:
    made = there()
    assert visible_array(ARRAY, caller_of(made, person())) is not None
    assert visible_array(ARRAY, caller_of(made, operator(tenant=ELSEWHERE))) is not None
    assert visible_array(ARRAY, caller_of(made, person(PEER))) is None
    assert visible_array(ARRAY, caller_of(made, person(tenant=ELSEWHERE))) is None
    assert visible_array("a0123456789abce", caller_of(made, person())) is None
    assert visible_array(MINE.id, caller_of(made, person())) is None
