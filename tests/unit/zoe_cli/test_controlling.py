"""Notes about actions without effect."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from zoe_cli.commands.running.controlling import note_if_none_failed
from zoe_client.vocabulary import IndexState
from zoe_client.wire import ArraySummary


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({IndexState.SUCCEEDED: 3}, "no index of a1 has failed or was cancelled: nothing runs again\n"),
        ({IndexState.SUCCEEDED: 3, IndexState.CANCELLED: 1}, ""),
    ],
)
def test_a_requeue_of_an_array_without_failures_says_so(
    counts: dict[IndexState, int], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    note_if_none_failed(cast(ArraySummary, SimpleNamespace(id="a1", counts=counts)))
    assert capsys.readouterr().err == said
