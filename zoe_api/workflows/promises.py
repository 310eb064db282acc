"""Promises of whole workflows: all steps together, except those that run after a failure."""

from __future__ import annotations

from zoe_api.arrays.whole_promises import accept_for, promise_of
from zoe_api.services.dependencies import Caller, Services
from zoe_client.wire import WorkflowPromiseView
from zoe_lib.store.values import ExecutionQuery
from zoe_lib.store.workflow_values import StoredWorkflow


def whole_promise(services: Services, workflow: StoredWorkflow) -> WorkflowPromiseView | None:
    """Return the decision for the steps that are promised together; None if no promise was requested."""
    ids = _members(workflow)
    if not ids:
        return None
    return promise_of(
        services.store.executions(ExecutionQuery(ids=frozenset(ids), limit=len(ids))).executions, clock=services.clock
    )


def accept_workflow(caller: Caller, workflow: StoredWorkflow, number: int) -> None:
    """Promise the terms of an offer to all steps; 409 if that is impossible."""
    accept_for(caller, _members(workflow), number)


def requests_promise(workflow: StoredWorkflow) -> bool:
    """Return whether its present run requested a promise. A resumed workflow runs without one: the first run's promise
    covered all of its steps.
    """
    return workflow.run == 1 and any(step.facts.get("promised") for step in workflow.steps)


def _members(workflow: StoredWorkflow) -> list[str]:
    """Return the executions that are promised together."""
    if not requests_promise(workflow):
        return []
    return [step.execution_id for step in workflow.steps if step.facts.get("promised")]
