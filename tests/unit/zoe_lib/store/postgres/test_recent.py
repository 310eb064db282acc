from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.applications import execution
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.postgres import recent
from zoe_lib.store.postgres.recent import RecentExecutions


def test_only_the_wanted_version_is_given() -> None:
    kept = RecentExecutions()
    newer = execution(1, version=3)
    kept.keep(newer)
    kept.keep(execution(1, version=2))  # a slow reader comes late
    assert kept.get(newer.id, 3) is newer
    assert kept.get(newer.id, 2) is None
    assert kept.get("unknown", 1) is None


def test_ended_execution_is_forgotten() -> None:
    kept = RecentExecutions()
    kept.keep(execution(1, version=3))
    kept.keep(replace(execution(1, version=4), state=ExecutionState.FAILED))
    assert kept.get(execution(1).id, 3) is None
    assert kept.get(execution(1).id, 4) is None


def test_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "KEPT_MAX", 2)
    kept = RecentExecutions()
    for number in range(3):
        kept.keep(execution(number, version=1))
    assert [kept.get(execution(number).id, 1) is not None for number in range(3)] == [False, True, True]
