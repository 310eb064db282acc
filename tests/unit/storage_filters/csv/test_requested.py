"""The header of a request for selected records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from storage_filters.csv.selection import SelectionError
from storage_filters.views.requested import selection_requested

FIELDS: dict[str, Any] = {
    "width": 3,
    "columns": [2, 0],
    "where": "c1 > 5",
    "types": {"c1": "int"},
    "start": 7,
    "end": 9,
}


def test_columns_have_the_names_of_their_positions() -> None:
    selection = selection_requested(json.dumps(FIELDS))
    assert selection.names == ("c0", "c1", "c2")
    assert selection.wanted_positions == (0, 2)
    assert (selection.start, selection.end, selection.in_place) == (7, 9, True)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"width": 0}, "width must be"),
        ({"width": 10**9}, "width must be"),
        ({"columns": []}, "positions below width"),
        ({"columns": [3]}, "positions below width"),
        ({"columns": [-1]}, "positions below width"),
        ({"columns": ["a"]}, "columns must be a list of whole numbers"),
        ({"where": "c3 = 1"}, "there is no column c3"),
        ({"where": "c1 = "}, "ends too early"),
        ({"start": -1}, "byte range"),
        ({"start": 10}, "byte range"),
        ({"types": {"c1": "blob"}}, "is not a column type"),
        ({"csv": {"delimiter": "ab"}}, "delimiter must be one"),
        ({"container": "a"}, "there is no field container"),
    ],
)
def test_a_wrong_field_is_named(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(SelectionError, match=why):
        selection_requested(json.dumps({**FIELDS, **changed}))


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(SelectionError, match="this is not a pushdown"):
        selection_requested(text)
