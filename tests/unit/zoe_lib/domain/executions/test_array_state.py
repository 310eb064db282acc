"""The state of a whole array, from those of its indices and of their executions."""

from __future__ import annotations

import pytest

from zoe_client.vocabulary import ExecutionState, IndexState
from zoe_lib.domain.executions.arrays import state_of

WAITING, ACTIVE = IndexState.WAITING, IndexState.ACTIVE
SUCCEEDED, FAILED, CANCELLED = IndexState.SUCCEEDED, IndexState.FAILED, IndexState.CANCELLED


@pytest.mark.parametrize(
    ("counts", "active", "state"),
    [
        ({WAITING: 9}, {}, ExecutionState.SUBMITTED),
        ({WAITING: 8, CANCELLED: 1}, {}, ExecutionState.SUBMITTED),
        ({ACTIVE: 9}, {ExecutionState.QUEUED: 9}, ExecutionState.QUEUED),
        ({ACTIVE: 9}, {ExecutionState.SUBMITTED: 9}, ExecutionState.QUEUED),
        ({WAITING: 5, ACTIVE: 4}, {ExecutionState.QUEUED: 3, ExecutionState.STARTING: 1}, ExecutionState.STARTING),
        ({ACTIVE: 4}, {ExecutionState.STOPPING: 3, ExecutionState.QUEUED: 1}, ExecutionState.STOPPING),
        ({ACTIVE: 4}, {ExecutionState.STARTING: 3, ExecutionState.RUNNING: 1}, ExecutionState.RUNNING),
        ({WAITING: 5, SUCCEEDED: 4}, {}, ExecutionState.QUEUED),
        ({SUCCEEDED: 9}, {}, ExecutionState.SUCCEEDED),
        ({SUCCEEDED: 8, CANCELLED: 1}, {}, ExecutionState.CANCELLED),
        ({SUCCEEDED: 7, CANCELLED: 1, FAILED: 1}, {}, ExecutionState.FAILED),
    ],
)
def test_an_array_runs_while_one_of_its_executions_does(
    counts: dict[IndexState, int], active: dict[ExecutionState, int], state: ExecutionState
) -> None:
    assert state_of(counts, active) is state
