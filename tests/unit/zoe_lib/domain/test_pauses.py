"""A pause after a failed attempt is lost to that attempt, not to the queue."""

from __future__ import annotations

import pytest

from tests.support.applications import execution
from zoe_client.vocabulary import DeadlineCause
from zoe_lib.domain.executions.deadline_misses import miss_of
from zoe_lib.domain.executions.execution import ExecutionState, Mark, pause_of
from zoe_lib.domain.values.deadlines import EarlierAttempts

PAUSED = execution(
    100, state=ExecutionState.QUEUED, attempt=2, not_before_s=120.0, deadline_s=110.0,
    marks={Mark.QUEUED: 101.0}, earlier=EarlierAttempts(failed_s=1.0),
)  # fmt: skip


@pytest.mark.parametrize(("until_s", "pause_s"), [(101.0, 0.0), (110.0, 9.0), (130.0, 19.0)])
def test_it_lasts_until_it_may_start_again(until_s: float, pause_s: float) -> None:
    assert pause_of(PAUSED, until_s) == pause_s


def test_a_deadline_that_passes_meanwhile_is_missed_by_failed_attempts() -> None:
    miss = miss_of(PAUSED, 110.0)
    assert miss.cause is DeadlineCause.ATTEMPTS_FAILED
    assert miss.costs_s == {DeadlineCause.ATTEMPTS_FAILED: 10.0}
