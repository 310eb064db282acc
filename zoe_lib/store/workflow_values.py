"""Workflows in their stored form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.vocabulary import Cause, ExecutionState, IndexState, ListProblem
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions.execution import ExecutionId


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step of a run and its execution, or the array of a step with `for_each`. `facts`: the step in the document, as
    JSON.
    """

    execution_id: ExecutionId
    position: int
    name: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewWorkflow:
    """A workflow to store, with the values of its parameters."""

    id: str
    name: str
    tenant: str
    user: str
    document: Mapping[str, Any]
    parameters: Mapping[str, Any]
    submitted_at_s: float


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """Progress of a step that runs for each entry of a list. count: None while the list is unknown."""

    count: int | None
    states: Mapping[IndexState, int]
    problem: ListProblem | None = None


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A step with its newest execution. Times are in seconds since the epoch. `user`: the owner of the execution.

    `entries`: of a step with `for_each`, which has an array instead; `execution_id` is the array's id.
    """

    execution_id: ExecutionId
    run: int
    position: int
    name: str
    facts: Mapping[str, Any]
    user: str
    state: ExecutionState
    cause: Cause | None
    message: str
    exit_code: int | None
    started_at_s: float | None
    ended_at_s: float | None
    entries: StoredEntries | None = None


@dataclass(frozen=True, slots=True)
class StoredWorkflow:
    """A workflow with its visible steps by position. `run`: 1, plus one for each resume. `hidden_open`: whether an
    invisible step has not ended.
    """

    id: str
    name: str
    tenant: str
    user: str
    document: Mapping[str, Any]
    parameters: Mapping[str, Any]
    run: int
    submitted_at_s: float
    steps: tuple[StoredStep, ...]
    hidden_open: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowQuery:
    """Filters of a list of workflows: those submitted before this one (its time and id), newest first."""

    visibility: Visibility
    limit: int
    before: tuple[float, str] | None = None
