"""Small workflows as they are stored."""

from __future__ import annotations

from typing import Any

from zoe_client.vocabulary import Cause, ExecutionState
from zoe_lib.store.workflow_values import StoredStep, StoredWorkflow


def step(
    state: ExecutionState, cause: Cause | None = None, name: str = "one", after: tuple[str, ...] = (), **more: Any
) -> StoredStep:
    facts = {
        "step": "one",
        "values": {"n": 1},
        "after": list(after),
        "on_failure": False,
        "results": {"out": "a/b"},
    }
    given = {"started_at_s": 2.0, "ended_at_s": None, "message": "bye", "exit_code": 3, **more}
    return StoredStep(f"e-{name}", 1, 0, name, facts, "ada", state, cause, **given)


def workflow(*steps: StoredStep, **changes: Any) -> StoredWorkflow:
    given = {"document": {"steps": ["secret"]}, "parameters": {"p": 1}, "run": 2, "submitted_at_s": 1.0, **changes}
    return StoredWorkflow("w1", "flow", "iostack", "ada", steps=steps, **given)
