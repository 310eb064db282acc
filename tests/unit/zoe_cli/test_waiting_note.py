"""Notes of why an execution waits."""

from __future__ import annotations

from typing import Any, cast

import pytest

from zoe_cli.commands.watching.notes.waiting import WaitingNote
from zoe_client.quick.plain import Execution


def waiting(code: str, sentence: str) -> Execution:
    reason = {"code": code, "sentence": sentence}
    return cast("Execution", {"id": "x1", "name": "job", "reason": reason, "forecast": None})


def test_a_reason_is_told_once_and_the_question_to_the_store_never(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[Any] = [
        waiting("locating_inputs", "The master is asking the object store where its inputs are."),
        waiting("held", "It is held."),
        waiting("held", "It is held."),
    ]
    note = WaitingNote(lambda: found.pop(0))
    while found:
        note.tell()
    assert capsys.readouterr().err.splitlines() == [
        "job waits: It is held.",
        "Ctrl-C leaves it in the queue; `zoe cancel x1` cancels it",
    ]
