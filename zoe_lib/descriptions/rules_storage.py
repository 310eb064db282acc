"""Rules of the storage section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zoe_lib.descriptions.diagnostics import Code, Diagnostic, duplicates, pointer
from zoe_lib.descriptions.reading import objects, text
from zoe_lib.predicate import PredicateError, parse

_WHERE = "such as: city = 'Nice' and kwh > 90; docs/storage.md has all of it"


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
        if isinstance(pushdown, dict):
            yield from _check_pushdown(pushdown, index)
    bandwidth = storage.get("bandwidth")
    if isinstance(bandwidth, dict) and bandwidth.get("read") is None and bandwidth.get("write") is None:
        yield Diagnostic("/storage/bandwidth", Code.CONFLICT, "a bandwidth needs 'read', 'write' or both")


def _check_pushdown(pushdown: dict[str, Any], index: int) -> Iterator[Diagnostic]:
    """What can be known without the data; whether it has these columns is found out before the application starts."""
    columns, where = pushdown.get("columns"), text(pushdown, "where")
    if not columns and pushdown.get("where") is None:
        place = pointer("storage", "inputs", index, "pushdown")
        yield Diagnostic(place, Code.CONFLICT, "a pushdown needs 'columns', 'where' or both")
    if isinstance(columns, list):
        places = (pointer("storage", "inputs", index, "pushdown", "columns", i) for i in range(len(columns)))
        named = [(place, one) for place, one in zip(places, columns, strict=True) if isinstance(one, str)]
        yield from duplicates(named, "column")
    if where:
        try:
            parse(where)
        except PredicateError as error:
            yield Diagnostic(
                pointer("storage", "inputs", index, "pushdown", "where"), Code.BAD_FORMAT, str(error), _WHERE
            )
