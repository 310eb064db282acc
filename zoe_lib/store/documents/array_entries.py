"""Data of the journal's entries about arrays: what was submitted, and what a change changed. A replay does and undoes
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.entries import EntryList
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.documents.codec import decode, encode

BEFORE, AFTER = "before", "after"
_TYPES: Mapping[str, Any] = {
    "user": str,
    "application": Application,
    "at_once": int | None,
    "priority": int,
    "deadline_s": float | None,
    "conditions": Conditions,
    "run": int,
    "message": str,
    "late_count": int | None,
    "entries": EntryList | None,
}
"""The fields of an array that change, apart from those that follow from the states of its indices."""


def submission_data(array: Array) -> Mapping[str, object]:
    """Return the data about a submission: conditions, of which the row has only the present state."""
    return {} if array.conditions == NO_CONDITIONS else {"conditions": encode(array.conditions)}


def change_data(before: Array, after: Array, data: Mapping[str, object]) -> Mapping[str, object]:
    """Return these data with the changed fields, before and after the change."""
    fields = [name for name in _TYPES if getattr(before, name) != getattr(after, name)]
    sides = ((BEFORE, before), (AFTER, after))
    return {**data, **{side: {name: encode(getattr(array, name)) for name in fields} for side, array in sides}}


def with_fields(array: Array, data: Mapping[str, object], side: str) -> Array:
    """Return an array with the fields of a change, as they were on this side of it."""
    fields = data.get(side)
    assert isinstance(fields, Mapping)
    return changed(array, **{name: decode(_TYPES[name], value) for name, value in fields.items()})


def submitted_conditions(data: Mapping[str, object]) -> Conditions:
    """Return the conditions of a submission."""
    return decode(Conditions, data["conditions"]) if "conditions" in data else NO_CONDITIONS
