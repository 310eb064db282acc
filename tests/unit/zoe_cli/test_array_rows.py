"""Arrays as rows of a list."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_cli.commands.words.array_rows import array_rows


@pytest.mark.parametrize(
    ("counts", "ready"),
    [({"cancelled": 6}, "0/6"), ({"succeeded": 4, "failed": 2}, "4/6"), ({"active": 6}, "0/6")],
)
def test_ready_counts_successes(counts: dict[str, int], ready: str) -> None:
    array: Any = {
        "id": "a1m8nq15zesfbcr",
        "name": "sweep",
        "user": "ann",
        "state": "cancelled",
        "size": 6,
        "indices": "0-5",
        "at_once_max": None,
        "counts": counts,
        "submitted_at_s": 1.0,
        "ended_at_s": 9.0,
        "deadline_s": None,
        "reason": None,
    }
    table = array_rows([array])
    assert dict(zip(table.columns, table.rows[0], strict=True))["ready"] == ready
