"""Arrays as tables and texts."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zoe_cli.commands.words.deadline_words import array_deadline_cell
from zoe_cli.commands.words.views import rows_of
from zoe_cli.rows import Rows
from zoe_cli.units import duration
from zoe_client.quick.plain import Array, Summary
from zoe_client.vocabulary import Cause

if TYPE_CHECKING:
    from zoe_client.wire import ArraySummary

_ID = re.compile(r"a[0-9a-z]{14}")
_INDICES_LENGTH_MAX = 24
_ACTIVE = ("running", "starting", "stopping", "queued", "submitted")


def is_workflow(text: str) -> bool:
    """Return whether an id has the form of a workflow's."""
    return text.startswith("w") and is_array(f"a{text[1:]}")


def is_array(text: str) -> bool:
    """Return whether an id has the form of an array's; executions of one are `ARRAY_INDEX`."""
    return _ID.fullmatch(text) is not None


def plain(array: ArraySummary) -> Array:
    """Return an array of the SDK as plain JSON."""
    kept: Any = array.model_dump(mode="json", include=set(Array.__annotations__))
    found: Array = kept
    return found


def indices_text(numbers: str) -> str:
    """Return numbers of indices, such as `2` or `1,4-6`, so that they are not read as a count."""
    return f"{'index' if numbers.isdecimal() else 'indices'} {numbers}"


def counts_text(counts: Mapping[str, int], active: Mapping[str, int]) -> str:
    """Return numbers of indices by state, such as `3 failed, 1 running, 9 queued, 997 waiting`; those that are active
    by the state of their executions.
    """
    numbers = {state: number for state, number in counts.items() if state not in ("active", "waiting")}
    of_active = {state: active[state] for state in _ACTIVE if state in active}
    numbers |= of_active or {"active": counts.get("active", 0)}
    numbers["waiting"] = counts.get("waiting", 0)
    return ", ".join(f"{number} {state}" for state, number in numbers.items() if number)


def array_rows(arrays: Sequence[Array]) -> Rows:
    """Return arrays as a table."""
    return all_rows(arrays, ())


def all_rows(arrays: Sequence[Array], executions: Sequence[Summary], order: Sequence[str] | None = None) -> Rows:
    """Return a table: one row for each array and each execution, in the order of their ids, else newest first."""
    table = rows_of(executions, any(array["deadline_s"] is not None for array in arrays))
    with_progress, with_deadline = "progress" in table.columns, "deadline" in table.columns
    rows: list[tuple[Summary | Array, Sequence[object]]] = [*zip(executions, table.rows, strict=True)]
    rows += [(array, _row(array, with_progress, with_deadline)) for array in arrays]
    places = None if order is None else {one: place for place, one in enumerate(order)}
    rows.sort(key=lambda pair: -pair[0]["submitted_at_s"] if places is None else places[pair[0]["id"]])
    return Rows(table.columns, [row for _, row in rows])


def _row(array: Array, with_progress: bool, with_deadline: bool) -> Sequence[object]:
    """Return the row of an array: READY is successful indices of all."""
    counts, ran_s = array["counts"], array.get("ran_s")  # an older server lacks it
    return (
        array["id"],
        f"{array['name']}[{_short(array)}]",
        array["user"],
        array["state"],
        f"{counts.get('succeeded', 0)}/{array['size']}",
        duration(time.time() - array["submitted_at_s"]),
        "" if ran_s is None else duration(ran_s),
        *([""] if with_progress else []),
        *([array_deadline_cell(array)] if with_deadline else []),
        _why(array),
    )


def _why(array: Array) -> str:
    """Return the code of why it waits or of its end, as for executions; else the numbers of indices by state."""
    if array["reason"] is not None:
        return array["reason"]["code"]
    cause = array.get("cause")  # an older server lacks it; of exits, the number says more
    return cause if cause and cause != Cause.EXITED else counts_text(array["counts"], array["active_states"])


def _short(array: Array) -> str:
    text = array["indices"]
    if len(text) > _INDICES_LENGTH_MAX:
        text = text[:_INDICES_LENGTH_MAX] + "..."
    return text if array["at_once_max"] is None else f"{text}%{array['at_once_max']}"
