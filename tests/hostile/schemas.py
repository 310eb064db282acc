"""Values that the schemas of an OpenAPI document allow, or nearly so, drawn by a seed. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
Known = Mapping[str, Callable[[], Any]]
"""Values by the names of properties that a schema alone does not say."""
_DEPTH_MAX = 6
_WORDS = ("walk", "x1", "0", "main", "2026-01", "workspace", "sha256:0", "a" * 64, "0" * 12, "BCDF-GHJK")


class Drawer:
    """Draws values. document: of OpenAPI."""

    def __init__(self, chance: random.Random, document: Mapping[str, Any], known: Known) -> None:
        self._chance, self._document, self._known = chance, document, known

    def value(self, schema: Schema, name: str = "", depth: int = 0) -> Any:
        """Return a value of a schema; null where it nests too deep."""
        if name in self._known and self._chance.random() < 0.9:
            return self._known[name]()
        if depth > _DEPTH_MAX:
            return None
        if "$ref" in schema:
            return self.value(self._referred(schema["$ref"]), name, depth)
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self.value(self._chance.choice(schema[several]), name, depth + 1)
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else self._chance.choice(schema["enum"])
        return self._of_kind(schema, depth)

    def _of_kind(self, schema: Schema, depth: int) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                number = self._chance.choice((0, 1, 1, 2))
                return [self.value(schema.get("items", {}), "", depth + 1) for _ in range(number)]
            case "integer" | "number":
                return self._number(schema)
            case "boolean":
                return self._chance.random() < 0.5
            case "string":
                return self._text(schema)
            case _:
                return None

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        wanted = {
            name: entry
            for name, entry in schema.get("properties", {}).items()
            if name in required or self._chance.random() < 0.3
        }
        return {name: self.value(entry, name, depth + 1) for name, entry in wanted.items()}

    def _number(self, schema: Schema) -> Any:
        least, most = schema.get("minimum", schema.get("exclusiveMinimum", 0)), schema.get("maximum", 10**9)
        return self._chance.choice((least, most, least - 1, most + 1, 1, (least + most) / 2))

    def _text(self, schema: Schema) -> str:
        words: Sequence[str] = (*_WORDS, "w" * int(schema.get("minLength", 1)))
        if (pattern := schema.get("pattern")) is not None:
            words = [word for word in words if re.search(pattern, word)] or words
        return self._chance.choice(words)

    def whole(self, part: Schema) -> Schema:
        """Return a part of the document, or the one to which it refers."""
        return self._referred(part["$ref"]) if "$ref" in part else part

    def _referred(self, reference: str) -> Schema:
        found: Any = self._document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        schema: Schema = found
        return schema
