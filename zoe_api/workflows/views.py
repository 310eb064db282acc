"""Views of workflows, limited to what the client may see."""

from __future__ import annotations

from collections import Counter

from zoe_client.vocabulary import TERMINAL_STATES, Cause, DependencyKind, ExecutionState
from zoe_client.wire import (
    EntriesView,
    StepPlan,
    StepState,
    StepView,
    WorkflowPlan,
    WorkflowPromiseView,
    WorkflowState,
    WorkflowSummary,
    WorkflowView,
)
from zoe_lib.store.workflow_values import StoredEntries, StoredStep, StoredWorkflow
from zoe_lib.workflows import CompiledWorkflow

_STATES = {
    ExecutionState.SUBMITTED: StepState.WAITING,
    ExecutionState.QUEUED: StepState.QUEUED,
    ExecutionState.STARTING: StepState.RUNNING,
    ExecutionState.RUNNING: StepState.RUNNING,
    ExecutionState.STOPPING: StepState.RUNNING,
    ExecutionState.SUCCEEDED: StepState.SUCCEEDED,
    ExecutionState.FAILED: StepState.FAILED,
    ExecutionState.CANCELLED: StepState.CANCELLED,
}
_ENDED_OTHERWISE = (ExecutionState.FAILED, ExecutionState.CANCELLED)
_LEFT = (StepState.WAITING, StepState.QUEUED, StepState.RUNNING)


def step_state(step: StoredStep) -> StepState:
    """Return the state of a step."""
    if step.state in _ENDED_OTHERWISE and step.cause is Cause.DEPENDENCY_FAILED:
        waits_for_failure = any(fact.startswith(f"{DependencyKind.FAIL}:") for fact in step.facts["after"])
        return StepState.NOT_NEEDED if waits_for_failure else StepState.SKIPPED
    return _STATES[step.state]


def workflow_state(workflow: StoredWorkflow) -> WorkflowState:
    """Return the state of a workflow: it has ended when all its steps have, including invisible ones."""
    found = workflow.steps
    states = {step_state(step) for step in found}
    if states & set(_LEFT) or workflow.hidden_open:
        begun = StepState.RUNNING in states or any(step.ended_at_s is not None for step in found)
        return WorkflowState.RUNNING if begun else WorkflowState.WAITING
    if StepState.FAILED in states:
        return WorkflowState.FAILED
    if StepState.CANCELLED in states:
        return WorkflowState.CANCELLED
    return WorkflowState.FAILED if StepState.SKIPPED in states else WorkflowState.SUCCEEDED


def has_ended(workflow: StoredWorkflow) -> bool:
    """Return whether all its steps have ended."""
    return not workflow.hidden_open and all(step.state in TERMINAL_STATES for step in workflow.steps)


def workflow_summary(workflow: StoredWorkflow) -> WorkflowSummary:
    """Return a workflow as a row of a list."""
    ends = [step.ended_at_s for step in workflow.steps]
    return WorkflowSummary(
        id=workflow.id,
        name=workflow.name,
        tenant=workflow.tenant,
        user=workflow.user,
        state=workflow_state(workflow),
        run=workflow.run,
        submitted_at_s=workflow.submitted_at_s,
        ended_at_s=max((end for end in ends if end is not None), default=None) if has_ended(workflow) else None,
        steps_total=len(workflow.steps),
        steps=dict(Counter(map(step_state, workflow.steps))),
    )


def workflow_view(
    workflow: StoredWorkflow, with_document: bool, promise: WorkflowPromiseView | None = None
) -> WorkflowView:
    """Return a workflow with its steps; for users with a share, without its document, which contains values of
    environment variables.
    """
    return WorkflowView(
        **dict(workflow_summary(workflow)),
        graph=[_step_view(step, with_document) for step in workflow.steps],
        parameters=dict(workflow.parameters) if with_document else {},
        document=dict(workflow.document) if with_document else {},
        promise=promise,
    )


def _step_view(step: StoredStep, with_values: bool) -> StepView:
    facts = step.facts
    return StepView(
        name=step.name,
        step=facts["step"],
        values=facts["values"] if with_values else {},
        after=facts["after"],
        on_failure=facts["on_failure"],
        execution_id=step.execution_id,
        run=step.run,
        state=step_state(step),
        cause=step.cause,
        message=step.message,
        exit_code=step.exit_code,
        started_at_s=step.started_at_s,
        ended_at_s=step.ended_at_s,
        results=facts["results"],
        for_each=facts.get("for_each", {}),
        entries=None if step.entries is None else _entries_view(step.entries),
    )


def _entries_view(entries: StoredEntries) -> EntriesView:
    return EntriesView(count=entries.count, states=dict(entries.states), problem=entries.problem)


def workflow_plan(compiled: CompiledWorkflow, notes: list[str]) -> WorkflowPlan:
    """Return the compiled form of a workflow."""
    steps = [
        StepPlan(
            name=step.name,
            values=dict(step.values),
            after=[f"{need.kind.value}:#{need.position}" for need in step.after],
            any_of=step.on_failure,
            deadline_s=step.deadline_s,
            deadlines=list(step.deadlines),
            application=step.application,
            for_each={} if step.each is None else {step.each.name: step.each.source},
            at_once=None if step.each is None else step.each.at_once,
        )
        for step in compiled.steps
    ]
    return WorkflowPlan(name=compiled.name, parameters=dict(compiled.parameters), steps=steps, notes=notes)
