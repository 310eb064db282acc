"""Structural findings: pydantic's errors in the terms of the format."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from zoe_client.documents.diagnostics import DIAGNOSTICS_MAX, Code, Diagnostic, did_you_mean, pointer
from zoe_client.words.plain_errors import sentence
from zoe_lib.descriptions.model import Model
from zoe_lib.descriptions.schema import keys_at

M = TypeVar("M", bound=Model)

_CODES = {
    "extra_forbidden": Code.UNKNOWN_KEY,
    "missing": Code.MISSING,
    "bad_format": Code.BAD_FORMAT,
    "literal_error": Code.OUT_OF_RANGE,
    "greater_than": Code.OUT_OF_RANGE,
    "greater_than_equal": Code.OUT_OF_RANGE,
    "less_than": Code.OUT_OF_RANGE,
    "less_than_equal": Code.OUT_OF_RANGE,
    "finite_number": Code.OUT_OF_RANGE,
    "too_long": Code.OUT_OF_RANGE,
    "string_too_long": Code.OUT_OF_RANGE,
    "string_too_short": Code.OUT_OF_RANGE,
}


def read_model(model: type[M], document: object) -> tuple[M | None, list[Diagnostic]]:
    """Return the document as this model, or None and the findings."""
    try:
        return model.model_validate(document), []
    except ValidationError as error:
        details = error.errors(include_url=False)[:DIAGNOSTICS_MAX]
        return None, [_diagnostic(model, detail) for detail in details]


def _diagnostic(model: type[Model], detail: ErrorDetails) -> Diagnostic:
    path: Sequence[str | int] = detail["loc"]
    kind = detail["type"]
    if path[-1:] == ("[key]",) and kind != "extra_forbidden":  # pydantic's name for a wrong key
        path = path[:-1]
    code = _CODES.get(kind, Code.WRONG_TYPE)
    return Diagnostic(pointer(*path), code, _message(kind, detail), _hint(model, kind, path, detail["input"]))


def _message(kind: str, detail: ErrorDetails) -> str:
    match kind:
        case "extra_forbidden":
            return f"unknown key {str(detail['loc'][-1])[:64]!r}"
        case "missing":
            return f"{str(detail['loc'][-1])!r} is missing"
    return sentence(detail)


def _hint(model: type[Model], kind: str, path: Sequence[str | int], value: Any) -> str:
    if kind == "extra_forbidden":
        return did_you_mean(str(path[-1]), keys_at(model, path[:-1]))
    if kind == "list_type" and path[-1:] == ("command",) and isinstance(value, str):
        return f"write {_split(value)}"
    if kind == "string_type" and isinstance(value, int | float):
        return f'write "{value}" with quotes'
    if kind in {"int_type", "float_type"} and isinstance(value, str):
        in_seconds = str(path[-1]).endswith("_s")
        return "write the number without quotes" if _is_number(value) else "write seconds" if in_seconds else ""
    return ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command[:200])
    except ValueError:
        return ["/bin/sh", "-c", command[:200]]
