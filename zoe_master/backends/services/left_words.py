"""Describe the files that a component left in its scratch directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zoe_client.words.amounts import count_with_noun, size


def describe_left_files(left: dict[str, Any] | None) -> str:
    """Return the names and sizes recorded by the supervisor, the largest first; empty without any."""
    return "" if not left else ", ".join(_parts(left))


def _parts(left: dict[str, Any]) -> Iterator[str]:
    for entry in left["entries"]:
        files = entry["files"]
        if files is None:
            yield f"{entry['name']} ({size(entry['bytes'])})"
        else:
            yield f"{entry['name']}/ ({count_with_noun(files, 'file')}, {size(entry['bytes'])})"
    if left["more"]:
        yield f"{left['more']} more ({size(left['more_bytes'])})"
    if left["at_least"]:
        yield "not all were counted"
