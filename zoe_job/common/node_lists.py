"""Lists of nodes as Slurm writes them: `a[1-3,07-09],b`."""

from __future__ import annotations

import re
from collections.abc import Iterator

NODES_MAX = 10_000
_PART = re.compile(r"([^\[\],]*)\[([^\[\]]*)\]([^\[\],]*)|([^\[\],]+)")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


class BadNodesError(ValueError):
    """A list that is invalid, or has too many nodes."""


def expand(text: str) -> list[str]:
    """Return the names of a list, 10,000 at most. Raises BadNodesError."""
    found: list[str] = []
    position = 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None or part.end() == position:
            raise BadNodesError(f"{text[:80]} is not a list of nodes")
        position = part.end()
        if position < len(text):
            if text[position] != ",":
                raise BadNodesError(f"{text[:80]} is not a list of nodes")
            position += 1
        for name in [part[4]] if part[4] else _expand_ranges(part[1], part[2], part[3]):
            found.append(name)
            if len(found) > NODES_MAX:
                raise BadNodesError(f"the list has more than {NODES_MAX} nodes")
    return found


def _expand_ranges(before: str, ranges: str, after: str) -> Iterator[str]:
    for part in ranges.split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise BadNodesError(f"{part[:80]} is not a range of numbers")
        first, last = found[1], found[2] or found[1]
        for number in range(int(first), int(last) + 1):
            yield f"{before}{number:0{len(first)}d}{after}"
