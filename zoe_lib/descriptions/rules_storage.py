"""Rules of the storage section."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.descriptions.diagnostics import Code, Diagnostic, duplicates, pointer
from zoe_lib.descriptions.reading import objects, text


def check_storage(storage: object) -> Iterator[Diagnostic]:
    """Findings of the storage section, which may be absent."""
    if not isinstance(storage, dict):
        return
    named = [
        (pointer("storage", key, index, "name"), text(item, "name"))
        for key in ("inputs", "outputs")
        for index, item in objects(storage, key)
    ]
    yield from duplicates(named, "input or output")
    for index, item in objects(storage, "inputs"):
        pushdown = item.get("pushdown")
        if isinstance(pushdown, dict) and not pushdown.get("columns") and pushdown.get("where") is None:
            place = pointer("storage", "inputs", index, "pushdown")
            yield Diagnostic(place, Code.CONFLICT, "a pushdown needs 'columns', 'where' or both")
    bandwidth = storage.get("bandwidth")
    if isinstance(bandwidth, dict) and bandwidth.get("read") is None and bandwidth.get("write") is None:
        yield Diagnostic("/storage/bandwidth", Code.CONFLICT, "a bandwidth needs 'read', 'write' or both")
