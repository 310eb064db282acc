"""Arrays as rows of a list."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_cli.commands.words.array_rows import array_rows, counts_text, indices_text

ARRAY: Any = {
    "id": "a1m8nq15zesfbcr",
    "name": "sweep",
    "user": "ann",
    "state": "cancelled",
    "size": 6,
    "indices": "0-5",
    "at_once_max": None,
    "counts": {"cancelled": 6},
    "active_states": {},
    "ran_s": None,
    "cause": None,
    "submitted_at_s": 1.0,
    "ended_at_s": 9.0,
    "deadline_s": 5.0,
    "reason": None,
}
HELD = {"code": "held", "sentence": "It is held.", "counts": {}, "hint": ""}


def row(**changes: Any) -> dict[str, object]:
    table = array_rows([{**ARRAY, **changes}])
    return dict(zip(table.columns, table.rows[0], strict=True))


def test_ready_counts_successes_and_ran_is_the_time_with_places() -> None:
    found = row(counts={"succeeded": 4, "failed": 2}, ran_s=8.0)
    assert (found["ready"], found["ran"], found["deadline"]) == ("4/6", "8.0s", "")  # a cancelled one misses nothing
    assert (row()["ready"], row()["ran"]) == ("0/6", "")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"reason": HELD}, "held"),
        ({"cause": "no_promise", "counts": {"failed": 6}}, "no_promise"),
        ({"cause": "exited", "counts": {"failed": 6}}, "6 failed"),
        ({"counts": {"succeeded": 4, "failed": 2}}, "4 succeeded, 2 failed"),
    ],
)
def test_why_is_a_code_as_for_executions(changes: dict[str, Any], why: str) -> None:
    assert row(**changes)["why"] == why


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


def test_numbers_of_indices_are_not_counts() -> None:
    assert (indices_text("2"), indices_text("1,4-6")) == ("index 2", "indices 1,4-6")
