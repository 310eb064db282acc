"""Rules of the storage section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, duplicates, pointer
from zoe_client.documents.reading import objects, text
from zoe_lib.descriptions import bounds
from zoe_lib.pushdown.column_types import ColumnType, mismatches, type_of
from zoe_lib.pushdown.predicate import PredicateError, parse
from zoe_lib.pushdown.predicate import columns as compared_columns

_WHERE = "for example: city = 'Nice' and kwh > 90; see docs/store/views.md"


def check_storage(storage: object) -> Iterator[Diagnostic]:
    """Yield the findings of the storage section, which may be absent."""
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
        if isinstance(csv := item.get("csv"), dict):
            yield from _check_csv(csv, index)
    bandwidth = storage.get("bandwidth")
    if isinstance(bandwidth, dict) and bandwidth.get("read") is None and bandwidth.get("write") is None:
        yield Diagnostic("/storage/bandwidth", Code.CONFLICT, "a bandwidth needs 'read', 'write' or both")


def _check_pushdown(pushdown: dict[str, Any], index: int) -> Iterator[Diagnostic]:
    """Check a pushdown as far as possible without the data; its columns are checked before the application starts."""
    columns, where, compared = pushdown.get("columns"), text(pushdown, "where"), frozenset[str]()
    if not columns and pushdown.get("where") is None:
        place = pointer("storage", "inputs", index, "pushdown")
        yield Diagnostic(place, Code.CONFLICT, "a pushdown needs 'columns', 'where' or both")
    if isinstance(columns, list):
        places = (pointer("storage", "inputs", index, "pushdown", "columns", i) for i in range(len(columns)))
        named = [(place, name) for place, entry in zip(places, columns, strict=True) if (name := _name(entry))]
        yield from duplicates(named, "column")
    if where and len(where) <= bounds.WHERE_LENGTH_MAX:  # the shape already reports a longer one
        place = pointer("storage", "inputs", index, "pushdown", "where")
        try:
            predicate = parse(where)
        except PredicateError as error:
            yield Diagnostic(place, Code.BAD_FORMAT, str(error), _WHERE)
            return
        for sentence in mismatches(predicate, _types(columns)):
            yield Diagnostic(place, Code.CONFLICT, sentence)
        compared = compared_columns(predicate)
    yield from _check_unread(columns, compared, index)


def _check_unread(columns: object, compared: frozenset[str], index: int) -> Iterator[Diagnostic]:
    """Yield a finding for each column that is neither read nor compared."""
    for at, entry in enumerate(columns if isinstance(columns, list) else []):
        if isinstance(entry, dict) and entry.get("read") is False and (name := _name(entry)) not in compared:
            place = pointer("storage", "inputs", index, "pushdown", "columns", at)
            hint = "remove it, or leave out read: false"
            yield Diagnostic(place, Code.CONFLICT, f"{name:.64} is neither read nor compared in 'where'", hint)


def _check_csv(csv: dict[str, Any], index: int) -> Iterator[Diagnostic]:
    place = pointer("storage", "inputs", index, "csv")
    delimiter, quote, escape = (csv.get(key, default) for key, default in _SIGNS.items())
    if delimiter in (quote, escape) or (isinstance(delimiter, str) and delimiter.isalnum()):
        message = "the delimiter must differ from quote and escape, and must not be a letter or digit"
        yield Diagnostic(place, Code.CONFLICT, message)
    if quote == " " or escape == " ":
        yield Diagnostic(place, Code.CONFLICT, "quote and escape must be visible characters")
    names = csv.get("names")
    if isinstance(names, list):
        named = [(pointer("storage", "inputs", index, "csv", "names", i), entry) for i, entry in enumerate(names)]
        texts = [(at, entry) for at, entry in named if isinstance(entry, str)]
        yield from duplicates(texts, "column")
        yield from _check_case(texts)


def _check_case(names: list[tuple[str, str]]) -> Iterator[Diagnostic]:
    first: dict[str, str] = {}
    for place, name in names:
        other = first.setdefault(name.lower(), name)
        if other != name:
            message = f"{name[:64]!r} and {other[:64]!r} are the same name to Spark, which ignores case"
            yield Diagnostic(place, Code.DUPLICATE, message, "use another name")


_SIGNS = {"delimiter": ",", "quote": '"', "escape": "\\"}


def _name(column: object) -> str | None:
    """Return the name of a column, given as a name or as an object with a name."""
    found = column.get("name") if isinstance(column, dict) else column
    return found if isinstance(found, str) else None


def _types(columns: object) -> dict[str, ColumnType]:
    typed = [column for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []
    found = {_name(entry): type_of(kind) for entry in typed if isinstance(kind := entry.get("type"), str)}
    return {name: known for name, known in found.items() if name is not None and known is not None}
