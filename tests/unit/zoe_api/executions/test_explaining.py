"""The explanation of an execution whose state is changing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from zoe_api.executions import executions
from zoe_client.vocabulary import ExecutionState
from zoe_client.wire import Explanation
from zoe_lib.messaging.client import MasterRefused


@pytest.mark.parametrize(("refusals", "stored"), [(0, False), (1, False), (2, True)])
def test_the_master_is_asked_again_before_the_stored_answer_is_given(
    monkeypatch: pytest.MonkeyPatch, refusals: int, stored: bool
) -> None:
    asked, naps_s = list[bool](), list[float]()
    caller: Any = SimpleNamespace(services=SimpleNamespace(clock=SimpleNamespace(sleep=naps_s.append)))

    def answer(_: str, __: object, *, stored: bool = False) -> Explanation:
        asked.append(stored)
        if len(asked) <= refusals:
            raise MasterRefused("not_found", "no such execution is queued")
        return Explanation(state=ExecutionState.QUEUED, reason=None, detailed=not stored)

    monkeypatch.setattr(executions, "_explain", answer)
    explained = executions.explain_execution("x1", caller)
    assert (explained.detailed, bool(explained.problem)) == (not stored, stored)
    assert asked == [False] * refusals + [stored]
    assert len(naps_s) == refusals
