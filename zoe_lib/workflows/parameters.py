"""Values of a workflow's parameters: given ones, else their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, pointer
from zoe_client.documents.reading import mapping
from zoe_lib.descriptions.bounds import INTEGER_MAX
from zoe_lib.workflows.model import TEXT_MAX
from zoe_lib.workflows.values import Value

_WORDS = {"text": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
_TRUTH = {"true": True, "false": False}


def parameters_of(document: dict[str, Any], given: Mapping[str, object]) -> tuple[dict[str, Value], list[Diagnostic]]:
    """Return the value of each parameter that has one, and the findings."""
    declared = {name: entry for name, entry in mapping(document, "params").items() if isinstance(entry, dict)}
    found: list[Diagnostic] = []
    values: dict[str, Value] = {}
    for name in given:
        if name not in declared:
            message = f"there is no parameter {name[:63]!r}"
            hint = did_you_mean(name, list(declared)) if declared else "none is declared in `params`"
            found.append(Diagnostic("/params", Code.UNKNOWN_REFERENCE, message, hint))
    for name, entry in declared.items():
        place, kind = pointer("params", name), entry.get("type", "text")
        if kind not in _WORDS:
            continue  # the structural findings cover it
        default = entry.get("default")
        value = None if default is None else _if_of_kind(default, kind)
        if default is not None and value is None:
            message = f"the default {str(default)[:64]!r} is not {_WORDS[kind]}"
            found.append(Diagnostic(f"{place}/default", Code.WRONG_TYPE, message))
        elif name not in given:
            if value is None:
                hint = f"give it: --param {name}=..."
                found.append(Diagnostic(place, Code.MISSING, f"the parameter {name!r} has no value", hint))
            else:
                values[name] = value
        if name in given:
            taken = _read(given[name], kind)
            if taken is None:
                message = f"{name}={str(given[name])[:64]!r} is {_fault_of(given[name], kind)}"
                found.append(Diagnostic(place, Code.WRONG_TYPE, message))
            else:
                values[name] = taken
    return values, found


def _fault_of(value: object, kind: str) -> str:
    """Return the fault of a value, as the end of a sentence."""
    if kind == "text" and isinstance(value, str):
        return "a text with a null character" if len(value) <= TEXT_MAX else f"longer than {TEXT_MAX} characters"
    digits = str(value).removeprefix("-")
    if kind == "integer" and digits.isascii() and digits.isdecimal():
        return f"beyond {INTEGER_MAX}"
    return f"not {_WORDS[kind]}"


def _read(value: object, kind: str) -> Value | None:
    """Return a given value, parsed if it is a text, as on command lines."""
    if not isinstance(value, str) or kind == "text":
        return _if_of_kind(value, kind)
    if kind == "boolean":
        return _TRUTH.get(value)
    if not value.isascii() or "_" in value:  # Python accepts more texts as numbers than people write
        return None
    try:
        return _if_of_kind(int(value) if kind == "integer" else float(value), kind) if len(value) < 64 else None
    except ValueError:
        return None


def _if_of_kind(value: object, kind: str) -> Value | None:
    """Return the value if it is of this kind; None otherwise."""
    match value:
        case bool():
            return value if kind == "boolean" else None
        case int():
            fits = kind in ("integer", "number") and abs(value) <= INTEGER_MAX
            return value if fits else None
        case float():
            return value if kind == "number" and abs(value) < float("inf") else None
        case str():
            return value if kind == "text" and len(value) <= TEXT_MAX and "\x00" not in value else None
    return None
