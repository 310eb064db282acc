"""First check of an untrusted document: it is JSON of limited size, with texts that can be stored."""

from __future__ import annotations

import math
from collections.abc import Iterator

from zoe_client.documents.bounds import DEPTH_MAX, DOCUMENT_BYTES_MAX
from zoe_client.documents.diagnostics import DIAGNOSTICS_MAX, Code, Diagnostic, pointer
from zoe_lib.descriptions.bounds import INTEGER_MAX, NODES_MAX

_Path = tuple[str | int, ...]


def check_shape(document: object) -> list[Diagnostic]:
    """Return the findings that make further checks unsafe; linear in the document, never recursive."""
    diagnostics: list[Diagnostic] = []
    todo: list[tuple[_Path, object]] = [((), document)]
    nodes, characters = 0, 0
    while todo and len(diagnostics) < DIAGNOSTICS_MAX:
        path, value = todo.pop()
        nodes += 1
        characters += len(value) if isinstance(value, str) else 0
        if nodes > NODES_MAX or characters > DOCUMENT_BYTES_MAX or len(path) > DEPTH_MAX:
            return [*diagnostics, _too_big(path)]
        diagnostics.extend(_check_value(path, value))
        todo.extend(_children(path, value))
    return diagnostics


def _children(path: _Path, value: object) -> Iterator[tuple[_Path, object]]:
    if isinstance(value, dict):
        # Keys count and are checked as texts.
        yield from (((*path, key), item) for key, item in value.items() if isinstance(key, str))
        yield from ((path, key) for key in value if isinstance(key, str))
    elif isinstance(value, list):
        yield from (((*path, index), item) for index, item in enumerate(value))


def _check_value(path: _Path, value: object) -> Iterator[Diagnostic]:
    if isinstance(value, str):
        if "\x00" in value or (not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value)):
            yield Diagnostic(
                pointer(*path), Code.BAD_FORMAT, "a string contains a NUL character or half of a surrogate pair"
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield Diagnostic(pointer(*path), Code.OUT_OF_RANGE, "not a finite number")
    elif isinstance(value, int):
        if abs(value) > INTEGER_MAX:
            yield Diagnostic(pointer(*path), Code.OUT_OF_RANGE, "a number that needs more than 64 bits")
    elif isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            yield Diagnostic(pointer(*path), Code.NOT_JSON, "a key must be a string")
    elif value is not None and not isinstance(value, list):
        yield Diagnostic(pointer(*path), Code.NOT_JSON, f"a value of type {type(value).__name__} is not JSON")


def _too_big(path: _Path) -> Diagnostic:
    return Diagnostic(
        pointer(*path[:DEPTH_MAX]),
        Code.TOO_BIG,
        f"the document is too large: the maximum is {DOCUMENT_BYTES_MAX} characters, {NODES_MAX} "
        f"values, depth {DEPTH_MAX}",
        "put data into the workspace or the object store instead of the description",
    )
