"""Texts that differ between the tasks of one Swarm service."""

from __future__ import annotations

from collections.abc import Sequence


def by_slot(values: Sequence[str]) -> str:
    """Return a text that Swarm turns into the value of a task's slot; slots are counted from 1."""
    if len(set(values)) == 1:
        return literal(values[0])
    *first, last = [literal(value) for value in values]
    cases = "".join(
        f'{{{{{"else " if slot > 1 else ""}if eq .Task.Slot "{slot}"}}}}{value}' for slot, value in enumerate(first, 1)
    )
    return f"{cases}{{{{else}}}}{last}{{{{end}}}}"


def literal(text: str) -> str:
    """Return the text with Swarm's own templates escaped: text of users is never executed on a manager."""
    return text.replace("{{", '{{"{{"}}')
