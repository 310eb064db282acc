"""Check the fields of the headers X-Zoe-View and X-Zoe-Pushdown; errors are in the terms of the header."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from storage_filters.csv.selection import SelectionError


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_texts_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


Check = tuple[Callable[[object], bool], str]
_TEXT: Check = _is_text, "a string"
_TEXTS: Check = _is_texts, "a list of texts"
_NUMBER: Check = _is_number, "a whole number"
_FIELDS: Mapping[str, Check] = {
    "container": _TEXT,
    "prefix": _TEXT,
    "names": _TEXTS,
    "columns": _TEXTS,
    "where": _TEXT,
    "csv": (_is_object, "an object"),
    "split_bytes": _NUMBER,
    "types": (_is_texts_by_name, "an object of texts"),
}
_REQUEST: Mapping[str, Check] = {
    "width": _NUMBER,
    "columns": (_is_numbers, "a list of whole numbers"),
    "start": _NUMBER,
    "end": _NUMBER,
    "padded": (_is_truth, "true or false"),
    **{name: _FIELDS[name] for name in ("where", "csv", "types")},
}
_LINES: Mapping[str, Check] = {
    "fields": (_is_texts_by_name, "an object of texts"),
    **{name: _REQUEST[name] for name in ("where", "types", "start", "end")},
}
_CSV: Mapping[str, Check] = {
    "delimiter": _TEXT,
    "quote": _TEXT,
    "escape": _TEXT,
    "header": (_is_truth, "true or false"),
    "null_text": _TEXT,
}


def checked_fields(text: str) -> dict[str, Any]:
    """Return the fields of a definition as JSON values. Raises SelectionError."""
    found = _checked("a view", text, _FIELDS)
    container = found.get("container", "")
    if not container or "/" in container:
        raise SelectionError("this is not a view: container must be a name without slashes")
    return found


def checked_request(text: str) -> dict[str, Any]:
    """Return the fields of a selection in a request as JSON values. Raises SelectionError."""
    found = _checked("a pushdown", text, {**_REQUEST, **_LINES})
    return _check_fields("a pushdown", found, _LINES if "fields" in found else _REQUEST, "")


def _checked(subject: str, text: str, known: Mapping[str, Check]) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise SelectionError(f"this is not {subject}: the definition is not JSON") from None
    found = _check_fields(subject, fields, known, "")
    _check_fields(subject, found.get("csv", {}), _CSV, "csv.")
    return found


def _check_fields(subject: str, fields: object, known: Mapping[str, Check], before: str) -> dict[str, Any]:
    if not isinstance(fields, dict):
        raise SelectionError(f"this is not {subject}: the definition must be a JSON object")
    for name, value in fields.items():
        if name not in known:
            raise SelectionError(
                f"this is not {subject}: there is no field {before}{name:.64}; the fields are {', '.join(known)}"
            )
        fits, kind = known[name]
        if not fits(value):
            raise SelectionError(f"this is not {subject}: {before}{name} must be {kind}")
    return fields
