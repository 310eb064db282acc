"""The generated schema and the page about the format are true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zoe_lib.descriptions import Code, json_schema
from zoe_lib.domain.applications.templates import TemplateKind

DOCS = Path(__file__).resolve().parents[4] / "docs"
PAGE = "".join(path.read_text("utf-8") for path in sorted((DOCS / "use").glob("description-*.md")))


def test_the_schema_in_the_tree_is_up_to_date() -> None:
    kept = json.loads((DOCS / "reference" / "description.schema.json").read_text("utf-8"))
    assert kept == json_schema(), "run: python -m zoe_lib.descriptions > docs/reference/description.schema.json"


def test_every_key_is_described_in_schema_and_page() -> None:
    for key, schema in _keys(json_schema()):
        assert schema.get("description"), key
        assert f"`{key}`" in PAGE, key


def test_every_schema_value_is_bounded() -> None:
    for key, schema in _keys(json_schema()):
        for entry in [schema, *schema.get("anyOf", [])]:
            match entry.get("type"):
                case "string":
                    assert entry.keys() & {"maxLength", "enum", "const", "pattern"}, key
                case "integer" | "number":
                    assert entry.keys() >= {"maximum"} or "const" in entry, key
                case "array":
                    assert "maxItems" in entry, key


def test_codes_and_templates_are_on_the_page() -> None:
    for code in Code:
        assert f"`{code}`" in PAGE, code
    for kind in TemplateKind:
        assert f"{{{kind}" in PAGE, kind


def _keys(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for owner in [schema, *schema["$defs"].values()]:
        yield from owner.get("properties", {}).items()
