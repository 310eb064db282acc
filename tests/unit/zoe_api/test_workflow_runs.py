"""Which steps of a workflow run again, and whether their inputs are still kept."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.plain_api import refusal, services
from tests.support.plain_workflows import step, workflow
from zoe_api import workflow_runs
from zoe_api.codes import Code
from zoe_client.vocabulary import Cause, ExecutionState
from zoe_lib.store.workflow_values import StoredStep
from zoe_lib.workflows import RunPlace

E = ExecutionState
SKIPPED = Cause.DEPENDENCY_FAILED


def plain(paths: bool = True, **after: tuple[int, ...]) -> Any:
    steps = [
        SimpleNamespace(
            name=name,
            after=[SimpleNamespace(position=one) for one in needs],
            paths={"out": "a"} if paths else {},
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
def test_what_has_not_succeeded_runs_again_with_all_that_runs_after_it(states: Any, again: set[str]) -> None:
    assert workflow_runs._again(found(**states), CHAIN) == again


def test_when_every_step_has_succeeded_there_is_nothing_to_resume() -> None:
    unneeded = replace(step(E.CANCELLED, SKIPPED, "d"), facts={**step(E.QUEUED).facts, "after": ["fail:#0"]})
    done = workflow(*(step(E.SUCCEEDED, name=name) for name in "abc"), unneeded)
    with refusal(Code.ILLEGAL_STATE):
        workflow_runs._again(done, CHAIN)


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
        workflow_runs._check_kept(whole, plain(paths, a=(), b=()), again, there)
        return
    with refusal(Code.ILLEGAL_STATE) as refused:
        workflow_runs._check_kept(whole, plain(paths, a=(), b=()), again, there)
    assert refused.problem.detail == "its results are not kept any more"


def test_a_workflow_of_which_executions_were_removed_is_run_anew() -> None:
    with refusal(Code.ILLEGAL_STATE) as refused:
        workflow_runs._check_kept(found(a=E.FAILED), plain(a=(), b=()), {"a"}, services())
    assert refused.problem.hint == "run it anew"


def test_requests_that_differ_have_other_fingerprints() -> None:
    prints = {workflow_runs._fingerprint(*parts) for parts in (("run", {"a": 1}), ("run", {"a": 2}), ("resume", "w"))}
    assert len(prints) == 3
    assert workflow_runs._fingerprint({"a": 1, "b": 2}) == workflow_runs._fingerprint({"b": 2, "a": 1})


def test_a_run_keeps_its_results_as_long_as_settings_say() -> None:
    place = workflow_runs.place_of(services(workflow_results_kept_s=7.0), "w1", 2, {"a": 1})
    assert place == RunPlace("w1", 2, 7.0, {"a": 1})
