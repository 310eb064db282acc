"""One page of a container listing, by the parameters of Swift's protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LIMIT = 10_000


def page(entries: Iterable[dict[str, Any]], params: Mapping[str, str], limit: int) -> list[dict[str, Any]]:
    """Return names after `marker`, before `end_marker`, with `prefix`; names with the same beginning up to `delimiter`
    as one.
    """
    prefix, delimiter = params.get("prefix", ""), params.get("delimiter", "")
    marker, end_marker = params.get("marker", ""), params.get("end_marker", "")
    listed: list[dict[str, Any]] = []
    for entry in sorted(entries, key=lambda entry: str(entry["name"])):
        shown = _rolled_up(entry, prefix, delimiter)
        name = str(shown.get("subdir", shown.get("name")))
        if not name.startswith(prefix) or name <= marker or (end_marker and name >= end_marker):
            continue
        if listed and listed[-1] == shown:
            continue
        if len(listed) >= limit:
            break
        listed.append(shown)
    return listed


def _rolled_up(entry: dict[str, Any], prefix: str, delimiter: str) -> dict[str, Any]:
    name = str(entry["name"])
    if not delimiter or not name.startswith(prefix):
        return entry
    end = name.find(delimiter, len(prefix))
    return entry if end < 0 else {"subdir": name[: end + len(delimiter)]}
