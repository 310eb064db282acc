"""Parse JSON more strictly than the standard parser: refuse duplicate keys, NaN, excessive depth and size."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from zoe_client.documents.bounds import DEPTH_MAX, DOCUMENT_BYTES_MAX
from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, pointer

# An unterminated string consumes the rest of the text: searching that for further strings would be quadratic.
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*+"?)(\s*+:)?|[\[\]{}]|\b(?:NaN|Infinity)\b', re.DOTALL)


def load_json(text: str | bytes) -> object:
    """Return the document in a JSON text; DescriptionError has line and column of the fault."""
    decoded = _decode(text)
    try:
        document: object = json.loads(decoded, object_pairs_hook=_each_key_once, parse_constant=_no_constant)
        if not _is_too_deep(document):
            return document
    except (ValueError, RecursionError):
        pass
    _scan(decoded)  # ten times slower; it knows the place of a fault
    try:
        document = json.loads(decoded)
    except json.JSONDecodeError as error:
        _refuse(decoded, error.pos, Code.NOT_JSON, f"not JSON: {error.msg}")
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits
        _refuse(decoded, 0, Code.NOT_JSON, f"this is not valid JSON: {str(error)[:100]}")
    return document


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_constant(_name: str) -> NoReturn:
    raise ValueError


def _is_too_deep(document: object) -> bool:
    level: list[dict[str, object] | list[object]] = [document] if isinstance(document, dict | list) else []
    for _ in range(DEPTH_MAX):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]
    return bool(level)


def _decode(text: str | bytes) -> str:
    if len(text) > DOCUMENT_BYTES_MAX:
        _refuse("", 0, Code.TOO_BIG, f"the document is larger than {DOCUMENT_BYTES_MAX} bytes")
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse("", 0, Code.NOT_JSON, f"the document is not UTF-8 at byte {error.start}")


def _scan(text: str) -> None:
    """Refuse excessive depth, duplicate keys and NaN, with their places; the parser reports other mistakes."""
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        match text[token.start()]:
            case "{" | "[":
                keys.append(set())
                if len(keys) > DEPTH_MAX:
                    _refuse(
                        text, token.start(), Code.TOO_BIG, f"the document is nested more than {DEPTH_MAX} levels deep"
                    )
            case "}" | "]":
                if keys:
                    keys.pop()
            case "N" | "I":
                _refuse(text, token.start(), Code.OUT_OF_RANGE, f"{token.group()} is not a JSON number")
            case _ if keys and token[2]:
                _check_key(text, token, keys[-1])


def _check_key(text: str, token: re.Match[str], seen: set[str]) -> None:
    try:
        key = json.loads(token[1], strict=False) if "\\" in token[1] else token[1][1:-1]
    except ValueError:
        return
    if key in seen:
        _refuse(text, token.start(), Code.DUPLICATE, f"key {key[:64]!r} occurs twice in one object")
    seen.add(key)


def _refuse(text: str, offset: int, code: Code, message: str) -> NoReturn:
    place = ""
    if text:
        line = text.count("\n", 0, offset) + 1
        column = offset - text.rfind("\n", 0, offset)
        place = f"line {line} column {column}: "
    raise DescriptionError([Diagnostic(pointer(), code, place + message)])
