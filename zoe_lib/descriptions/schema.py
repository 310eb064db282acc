"""The JSON Schema of the format, generated from the model."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from zoe_lib.descriptions.model import Document, Model


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of version 4; the rules beyond structure are not in it."""
    schema = Document.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Zoe application description"}


def keys_at(model: type[Model], path: Sequence[str | int]) -> list[str]:
    """Return the keys that an object at this place may have, for hints; none if any key is allowed."""
    schema = _schema_of(model)
    here: dict[str, Any] | None = schema
    for part in path:
        here = _step(schema, here, part) if here is not None else None
    return sorted(_resolve(schema, here).get("properties", {})) if here is not None else []


@functools.cache
def _schema_of(model: type[Model]) -> dict[str, Any]:
    return model.model_json_schema()


def _step(schema: dict[str, Any], here: dict[str, Any], part: str | int) -> dict[str, Any] | None:
    here = _resolve(schema, here)
    if isinstance(part, int):
        return here.get("items")
    found: dict[str, Any] | None = here.get("properties", {}).get(part)
    return found


def _resolve(schema: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference, also one beside the null of an optional field."""
    candidates = [here, *here.get("anyOf", [])]
    for candidate in candidates:
        if "$ref" in candidate:
            resolved: dict[str, Any] = schema["$defs"][candidate["$ref"].rsplit("/", 1)[1]]
            return resolved
    return here
