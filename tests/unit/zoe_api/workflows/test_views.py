"""States of steps and workflows, and their visible details."""

from __future__ import annotations

import pytest

from tests.support.plain_workflows import step, workflow
from zoe_api.workflows import views as workflow_views
from zoe_client.vocabulary import Cause, ExecutionState
from zoe_client.wire import StepState, WorkflowState
from zoe_lib.store.workflow_values import StoredStep

E, S, W = ExecutionState, StepState, WorkflowState
SKIPPED = (E.FAILED, Cause.DEPENDENCY_FAILED)


@pytest.mark.parametrize(
    ("state", "cause", "after", "told"),
    [
        (E.SUBMITTED, None, (), S.WAITING),
        (E.QUEUED, None, (), S.QUEUED),
        (E.STARTING, None, (), S.RUNNING),
        (E.RUNNING, None, (), S.RUNNING),
        (E.STOPPING, None, (), S.RUNNING),
        (E.SUCCEEDED, None, (), S.SUCCEEDED),
        (E.FAILED, Cause.EXITED, (), S.FAILED),
        (E.CANCELLED, Cause.CANCELLED, (), S.CANCELLED),
        (E.FAILED, Cause.DEPENDENCY_FAILED, ("ok:#0",), S.SKIPPED),
        (E.CANCELLED, Cause.DEPENDENCY_FAILED, ("any:#0",), S.SKIPPED),
        (E.CANCELLED, Cause.DEPENDENCY_FAILED, ("ok:#0", "fail:#1"), S.NOT_NEEDED),
        (E.SUCCEEDED, Cause.DEPENDENCY_FAILED, (), S.SUCCEEDED),
    ],
)
def test_a_step_is_as_far_as_its_execution(
    state: ExecutionState, cause: Cause | None, after: tuple[str, ...], told: StepState
) -> None:
    assert workflow_views.step_state(step(state, cause, after=after)) is told


NOT_NEEDED = step(E.CANCELLED, Cause.DEPENDENCY_FAILED, after=("fail:#0",))


@pytest.mark.parametrize(
    ("steps", "hidden", "state"),
    [
        ([step(E.SUBMITTED)], False, W.WAITING),
        ([step(E.QUEUED), step(E.SUBMITTED)], False, W.WAITING),
        ([step(E.RUNNING), step(E.SUBMITTED)], False, W.RUNNING),
        ([step(E.SUCCEEDED, ended_at_s=3.0), step(E.SUBMITTED)], False, W.RUNNING),
        ([step(E.SUCCEEDED, ended_at_s=3.0)], False, W.SUCCEEDED),
        ([step(E.SUCCEEDED, ended_at_s=3.0)], True, W.RUNNING),
        ([], True, W.WAITING),
        ([step(E.FAILED), step(E.CANCELLED), step(E.SUCCEEDED)], False, W.FAILED),
        ([step(E.CANCELLED), step(*SKIPPED)], False, W.CANCELLED),
        ([step(E.SUCCEEDED), step(*SKIPPED)], False, W.FAILED),
        ([step(E.SUCCEEDED), NOT_NEEDED], False, W.SUCCEEDED),
    ],
)
def test_a_workflow_is_as_far_as_its_steps(steps: list[StoredStep], hidden: bool, state: WorkflowState) -> None:
    assert workflow_views.workflow_state(workflow(*steps, hidden_open=hidden)) is state


def test_it_has_ended_when_all_steps_have_also_those_that_are_not_visible() -> None:
    done = step(E.SUCCEEDED)
    assert workflow_views.has_ended(workflow(done, done))
    assert not workflow_views.has_ended(workflow(done, step(E.STOPPING)))
    assert not workflow_views.has_ended(workflow(done, hidden_open=True))


def test_a_summary_counts_steps_and_ends_with_the_last() -> None:
    steps = (step(E.SUCCEEDED, ended_at_s=3.0), step(E.SUCCEEDED, ended_at_s=5.0), step(E.FAILED, ended_at_s=4.0))
    told = workflow_views.workflow_summary(workflow(*steps))
    assert (told.id, told.name, told.tenant, told.user, told.run) == ("w1", "flow", "iostack", "ada", 2)
    assert (told.steps_total, told.steps, told.ended_at_s) == (3, {S.SUCCEEDED: 2, S.FAILED: 1}, 5.0)
    assert workflow_views.workflow_summary(workflow(*steps, step(E.RUNNING))).ended_at_s is None
    assert workflow_views.workflow_summary(workflow(step(E.CANCELLED))).ended_at_s is None


def test_values_parameters_and_document_are_for_its_owner() -> None:
    one = workflow(step(E.FAILED, Cause.EXITED, after=("ok:#0",)))
    own, shared = (workflow_views.workflow_view(one, with_document=it) for it in (True, False))
    assert (own.document, own.parameters, own.graph[0].values) == ({"steps": ["secret"]}, {"p": 1}, {"n": 1})
    assert (shared.document, shared.parameters, shared.graph[0].values) == ({}, {}, {})
    seen = shared.graph[0]
    assert (seen.name, seen.step, seen.after, seen.on_failure) == ("one", "one", ["ok:#0"], False)
    assert (seen.execution_id, seen.run, seen.state, seen.cause) == ("e-one", 1, S.FAILED, "exited")
    assert (seen.message, seen.exit_code, seen.started_at_s, seen.results) == ("bye", 3, 2.0, {"out": "a/b"})
