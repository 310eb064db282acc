"""Steps of a workflow that run again, and whether their inputs still exist."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.plain_api import caller_of, refusal, services
from tests.support.plain_workflows import step, workflow
from zoe_api.http.problems.codes import Code
from zoe_api.workflows import resuming as workflow_resuming
from zoe_api.workflows.resuming import RemainingSteps, remaining_steps
from zoe_client.vocabulary import Cause, ExecutionState, ListProblem
from zoe_lib.store.workflow_values import StoredEntries, StoredStep

E = ExecutionState
SKIPPED = Cause.DEPENDENCY_FAILED


def plain(paths: bool = True, **after: tuple[int, ...]) -> Any:
    steps = [
        SimpleNamespace(
            name=name,
            after=[SimpleNamespace(position=need) for need in needs],
            paths={"out": "a"} if paths else {},
            each=None,
        )
        for name, needs in after.items()
    ]
    return SimpleNamespace(steps=steps)


CHAIN = plain(a=(), b=(0,), c=(1,), d=())


def found(**states: Any) -> Any:
    def one(name: str, given: Any) -> StoredStep:
        state, cause = given if isinstance(given, tuple) else (given, None)
        return step(state, cause, name)

    return workflow(*(one(name, given) for name, given in states.items()))


@pytest.mark.parametrize(
    ("states", "again"),
    [
        ({"a": E.SUCCEEDED, "b": E.FAILED, "c": (E.FAILED, SKIPPED), "d": E.SUCCEEDED}, {"b", "c"}),
        ({"a": E.CANCELLED, "b": E.SUCCEEDED, "c": E.SUCCEEDED, "d": E.SUCCEEDED}, {"a", "b", "c"}),
        ({"a": E.SUCCEEDED, "b": E.SUCCEEDED, "c": E.SUCCEEDED, "d": E.FAILED}, {"d"}),
    ],
)
def test_unsuccessful_steps_run_again_with_all_after_them(states: Any, again: set[str]) -> None:
    assert remaining_steps(found(**states), CHAIN) == RemainingSteps(frozenset(again), frozenset())


def test_when_every_step_has_succeeded_there_is_nothing_to_resume() -> None:
    unneeded = replace(step(E.CANCELLED, SKIPPED, "d"), facts={**step(E.QUEUED).facts, "after": ["fail:#0"]})
    done = workflow(*(step(E.SUCCEEDED, name=name, ended_at_s=1.0) for name in "abc"), unneeded)
    with refusal(Code.ILLEGAL_STATE) as refused:
        workflow_resuming.resume(done, caller_of(services(), None, None), None)  # type: ignore[arg-type]
    assert "nothing to resume" in refused.problem.detail


MAPPED = plain(a=(), b=(0,), c=(1,), d=())
MAPPED.steps[1].each = SimpleNamespace(source="a.parts")


@pytest.mark.parametrize(
    ("states", "entries", "again", "goes_on"),
    [
        ({"a": E.SUCCEEDED, "b": E.FAILED, "c": (E.FAILED, SKIPPED)}, (3, None), "c", "b"),
        ({"a": E.SUCCEEDED, "b": E.CANCELLED, "c": E.CANCELLED}, (3, None), "c", "b"),
        ({"a": E.SUCCEEDED, "b": E.CANCELLED, "c": E.CANCELLED}, (None, None), "bc", ""),
        ({"a": E.FAILED, "b": (E.FAILED, SKIPPED), "c": (E.FAILED, SKIPPED)}, (None, None), "abc", ""),
        ({"a": E.FAILED, "b": E.SUCCEEDED, "c": E.SUCCEEDED}, (3, None), "abc", ""),
        ({"a": E.SUCCEEDED, "b": E.FAILED, "c": (E.FAILED, SKIPPED)}, (None, ListProblem.BAD_ENTRY), "abc", ""),
        ({"a": E.SUCCEEDED, "b": E.SUCCEEDED, "c": E.FAILED}, (0, None), "c", ""),
    ],
)
def test_a_mapped_step_goes_on_with_its_list_while_that_is_not_made_again(
    states: Any, entries: tuple[int | None, ListProblem | None], again: str, goes_on: str
) -> None:
    a, b, *others = found(**states, d=E.SUCCEEDED).steps
    b = replace(b, entries=StoredEntries(entries[0], {}, entries[1]))
    assert remaining_steps(workflow(a, b, *others), MAPPED) == RemainingSteps(frozenset(again), frozenset(goes_on))


@pytest.mark.parametrize(
    ("ended_ago_s", "paths", "again", "kept"),
    [
        (50.0, True, {"b"}, True),
        (150.0, True, {"b"}, False),
        (150.0, False, {"b"}, True),
        (150.0, True, {"a", "b"}, True),
    ],
)
def test_results_are_kept_for_a_time(ended_ago_s: float, paths: bool, again: set[str], kept: bool) -> None:
    there = services(workflow_results_kept_s=100.0)
    ended = [step(E.FAILED, name=name, ended_at_s=time.time() - ended_ago_s - n) for n, name in enumerate("ab")]
    whole = workflow(*ended)
    if kept:
        workflow_resuming._check_results_exist(
            whole, plain(paths, a=(), b=()), RemainingSteps(frozenset(again), frozenset()), there
        )
        return
    with refusal(Code.ILLEGAL_STATE) as refused:
        workflow_resuming._check_results_exist(
            whole, plain(paths, a=(), b=()), RemainingSteps(frozenset(again), frozenset()), there
        )
    assert refused.problem.detail == "its results no longer exist"


def test_a_workflow_of_which_executions_were_removed_is_run_anew() -> None:
    with refusal(Code.ILLEGAL_STATE) as refused:
        workflow_resuming._check_results_exist(
            found(a=E.FAILED), plain(a=(), b=()), RemainingSteps(frozenset("a"), frozenset()), services()
        )
    assert refused.problem.hint == "run it anew"
