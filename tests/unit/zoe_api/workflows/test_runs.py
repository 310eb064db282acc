"""Fingerprints of requests about workflows, and the directory of a run's results."""

from __future__ import annotations

from tests.support.plain_api import services
from zoe_api.workflows import checking
from zoe_api.workflows import runs as workflow_runs
from zoe_client.vocabulary import Cause, ExecutionState
from zoe_lib.workflows import RunPlace

E = ExecutionState
SKIPPED = Cause.DEPENDENCY_FAILED


def test_requests_that_differ_have_other_fingerprints() -> None:
    prints = {workflow_runs.fingerprint_of(*parts) for parts in (("run", {"a": 1}), ("run", {"a": 2}), ("resume", "w"))}
    assert len(prints) == 3
    assert workflow_runs.fingerprint_of({"a": 1, "b": 2}) == workflow_runs.fingerprint_of({"b": 2, "a": 1})


def test_a_run_keeps_its_results_as_long_as_settings_say() -> None:
    place = checking.place_of(services(workflow_results_kept_s=7.0), "w1", 2, {"a": 1})
    assert place == RunPlace("w1", 2, 7.0, {"a": 1})
