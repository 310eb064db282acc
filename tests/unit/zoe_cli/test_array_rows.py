"""Arrays as rows of a list."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_cli.commands.words.array_rows import array_rows, counts_text


@pytest.mark.parametrize(
    ("counts", "has_begun", "ready", "ran"),
    [
        ({"cancelled": 6}, False, "0/6", ""),
        ({"cancelled": 6}, True, "0/6", "8.0s"),
        ({"succeeded": 4, "failed": 2}, True, "4/6", "8.0s"),
    ],
)
def test_ready_counts_successes_and_ran_begins_with_the_first(
    counts: dict[str, int], has_begun: bool, ready: str, ran: str
) -> None:
    array: Any = {
        "id": "a1m8nq15zesfbcr",
        "name": "sweep",
        "user": "ann",
        "state": "cancelled",
        "size": 6,
        "indices": "0-5",
        "at_once_max": None,
        "counts": counts,
        "active_states": {},
        "has_begun": has_begun,
        "submitted_at_s": 1.0,
        "ended_at_s": 9.0,
        "deadline_s": 5.0,
        "reason": None,
    }
    table = array_rows([array])
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["ready"], row["ran"], row["deadline"]) == (ready, ran, "")  # nothing is missed by a cancelled one


@pytest.mark.parametrize(
    ("counts", "active", "text"),
    [
        ({"succeeded": 1, "active": 10, "waiting": 90}, {"queued": 10}, "1 succeeded, 10 queued, 90 waiting"),
        ({"waiting": 2, "active": 4}, {"queued": 1, "running": 3}, "3 running, 1 queued, 2 waiting"),
        ({"failed": 3, "active": 1}, {}, "3 failed, 1 active"),
        ({}, {}, ""),
    ],
)
def test_active_indices_are_told_by_the_state_of_their_executions(
    counts: dict[str, int], active: dict[str, int], text: str
) -> None:
    assert counts_text(counts, active) == text
