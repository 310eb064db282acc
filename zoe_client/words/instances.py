"""Say how many instances of a component run, are preferred, and are possible."""

from __future__ import annotations


def instances_words(given: int, preferred: int, total: int) -> str:
    """Return the counts as `2 of 4, preferred 3`; without the preferred number if it is the possible one."""
    return f"{given} of {total}" + (f", preferred {preferred}" if preferred < total else "")
