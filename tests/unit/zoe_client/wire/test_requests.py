"""Numbers and names that requests of the API accept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from tests.docs.documents import DOCS
from zoe_client import wire
from zoe_client.wire.executions.executions import SubmitRequest

DOCUMENT = json.loads((DOCS / "reference" / "openapi.json").read_text("utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(named := part.get("$ref"), str):
            yield named.rsplit("/", 1)[-1]
        for below in part.values():
            yield from _references(below)
    elif isinstance(part, list):
        for below in part:
            yield from _references(below)


def _requests() -> set[str]:
    """Return the names of all schemas that a request's body may hold."""
    operations = [entry for path in DOCUMENT["paths"].values() for entry in path.values() if isinstance(entry, dict)]
    found = {name for operation in operations for name in _references(operation.get("requestBody"))}
    while more := {name for schema in found for name in _references(SCHEMAS[schema])} - found:
        found |= more
    return {name for name in found if not name.startswith("Description")}  # these are tested with their parser


def _is_number(field: dict[str, Any]) -> bool:
    return field.get("type") in ("integer", "number") or any(_is_number(entry) for entry in field.get("anyOf", []))


NUMBERS = [
    (schema, name)
    for schema in sorted(_requests())
    for name, field in SCHEMAS[schema].get("properties", {}).items()
    if _is_number(field)
]


def test_there_are_numbers() -> None:
    assert ("SubmitRequest", "priority") in NUMBERS


@pytest.mark.parametrize(("schema", "name"), NUMBERS)
def test_true_is_no_number(schema: str, name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        getattr(wire, schema).model_validate({name: True})
    assert (name,) in {error["loc"] for error in refused.value.errors() if error["type"] == "number_type"}


@pytest.mark.parametrize("name", [" ", "\u202eevil", "a\nb", "\x1b[31m", "a\x00", "zero\u200bwidth"])
def test_a_name_can_be_read_as_it_is(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        SubmitRequest(application={}, name=name)


@pytest.mark.parametrize("name", ["nightly", "Bericht für März", "日報 2", "a/b <c>", ""])
def test_names_may_be_in_any_script(name: str) -> None:
    assert SubmitRequest(application={}, name=name).name == name
