"""Selections of all formats: parse those of requests, and select."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from storage_filters.csv.json_lines.selection import JsonSelection
from storage_filters.csv.json_lines.stream import select_lines
from storage_filters.csv.selection import Selection, SelectionError
from storage_filters.csv.stream import select_records

AnySelection: TypeAlias = Selection | JsonSelection


def selection_of(text: str) -> AnySelection:
    """Return the selection of the JSON of `to_json`. Raises SelectionError."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise SelectionError("this is not a selection: it is not a JSON object")
    return JsonSelection.from_fields(fields) if "fields" in fields else Selection.from_json(text)


def select(chunks: Iterable[bytes], selection: AnySelection) -> Iterator[bytes]:
    """Yield the selected records of an object, from `first_byte(selection)` on; blocks may be empty. Raises
    UnreadableRecordError.
    """
    if isinstance(selection, JsonSelection):
        return select_lines(chunks, selection)
    return select_records(chunks, selection)
