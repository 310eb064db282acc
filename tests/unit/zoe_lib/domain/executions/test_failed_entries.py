"""Failed entries of a list are named by number and text, within bounds."""

from __future__ import annotations

import pytest

from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.executions.arrays import CODES
from zoe_lib.domain.executions.failed_entries import NAMED_MAX, failed_positions, with_failed_entries

FAILED, DONE = CODES[IndexState.FAILED], CODES[IndexState.SUCCEEDED]


def test_positions_are_those_of_the_state() -> None:
    assert failed_positions(bytes([DONE, FAILED, DONE, FAILED])) == [1, 3]


@pytest.mark.parametrize(
    ("message", "positions", "entries", "told"),
    [
        ("", [], {}, ""),
        ("cancelled by ada", [], {}, "cancelled by ada"),
        ("", [3], {3: "south"}, 'entry 3 ("south") failed'),
        ("cancelled by ada", [0, 2], {0: 7, 2: True}, "cancelled by ada; entries 0 (7) and 2 (true) failed"),
        ("", [1], {1: {"name": "Zürich"}}, 'entry 1 ({"name": "Zürich"}) failed'),
        ("", [1], {1: "x" * 100}, 'entry 1 ("' + "x" * 39 + "...) failed"),
        ("", [4], {}, "entry 4 failed"),
    ],
)
def test_they_are_named(message: str, positions: list[int], entries: dict[int, Entry], told: str) -> None:
    assert with_failed_entries(message, positions, entries) == told


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    told = with_failed_entries("", range(100), dict.fromkeys(range(NAMED_MAX), "a"))
    assert told == 'entries 0 ("a"), 1 ("a"), 2 ("a"), 3 ("a"), 4 ("a") and 95 more failed'
