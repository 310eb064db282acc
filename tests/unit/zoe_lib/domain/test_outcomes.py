"""The outcome of an execution from the end of an essential service."""

from __future__ import annotations

import pytest

from tests.support.scheduling import queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.domain.lifecycle.lifecycle import apply


@pytest.mark.parametrize(
    ("code", "cause", "outcome"),
    [
        (0, Cause.EXITED, Outcome.SUCCEEDED),
        (1, Cause.EXITED, Outcome.FAILED),
        # A shell that goes on after its program was killed ends with 0, and has half of the results.
        (0, Cause.OUT_OF_MEMORY, Outcome.FAILED),
        (137, Cause.OUT_OF_MEMORY, Outcome.FAILED),
    ],
)
def test_the_outcome_follows_from_code_and_cause(code: int, cause: Cause, outcome: Outcome) -> None:
    execution = started(queued("x"), "n1")
    for service in execution.services:
        event = ev.ServiceEnded(at_s=25.0, service_id=service.id, exit_code=code, cause=cause)
        execution = apply(execution, event)
    settled, _ = settle(execution, 30.0, Policy(), "t")
    assert settled.outcome is outcome
    if outcome is Outcome.FAILED:
        assert settled.exit_code == code
