"""The state of a whole array, from those of its indices and of their executions."""

from __future__ import annotations

import pytest

from tests.support.applications import application
from zoe_client.vocabulary import DependencyKind, ExecutionState, IndexState
from zoe_lib.domain.executions.arrays import CODES, Array, again, state_of
from zoe_lib.domain.executions.indices import parse_array
from zoe_lib.domain.values.conditions import Conditions, Dependency

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


@pytest.mark.parametrize(("met", "left"), [((None, True), (None,)), ((False, None), (None,)), ((True, False), ())])
def test_a_requeued_array_keeps_its_begin_time_and_what_it_still_awaits(
    met: tuple[bool | None, ...], left: tuple[bool | None, ...]
) -> None:
    after = tuple(Dependency(DependencyKind.OK, f"x{number}", known) for number, known in enumerate(met))
    conditions = Conditions(begin_at_s=9e9, after=after, keep=True)
    indices, states = parse_array("0-2", 9)[0], bytearray([CODES[CANCELLED]] * 3)
    one = Array("a1", "many", "red", "ada", application(), 1.0, indices, conditions=conditions, counts={CANCELLED: 3})
    found = again(one, states).conditions
    assert (found.begin_at_s, found.keep, tuple(entry.met for entry in found.after)) == (9e9, True, left)
