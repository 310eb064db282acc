"""The catalogue: descriptions with a title, a category and a form, for people who do not write JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from zoe_lib.descriptions import scalars as s
from zoe_lib.descriptions.catalogue_files import catalogue_directory
from zoe_lib.descriptions.diagnostics import Code, Diagnostic, did_you_mean
from zoe_lib.descriptions.load import load_json
from zoe_lib.descriptions.model import Model
from zoe_lib.descriptions.settings import assign

FieldType = Literal["string", "integer", "number", "boolean"]


class FormField(Model):
    """One field of an entry's form: what is put in goes to every path in `settings` (as `set_values` takes them)."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
    title: s.Description
    description: s.Description = ""
    type: FieldType = "string"
    default: str | int | float | bool | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    step: int | float | None = None
    settings: Annotated[list[str], Field(min_length=1, max_length=20)]


class CatalogueEntry(Model):
    """One thing to launch. `file` is relative to the catalogue; no `allowed_roles` means all but `denied_roles`."""

    id: s.Label
    title: s.Description
    category: s.Description
    summary: s.Description = ""
    file: str
    readme: str | None = None
    logo: str | None = None
    fields: Annotated[list[FormField], Field(default_factory=list, max_length=100)]
    allowed_roles: Annotated[list[str], Field(default_factory=list)]
    denied_roles: Annotated[list[str], Field(default_factory=list)]

    def allows(self, role: str) -> bool:
        """Whether people of that role may launch it."""
        return role not in self.denied_roles and (not self.allowed_roles or role in self.allowed_roles)


class _Catalogue(Model):
    version: Literal[1]
    entries: list[CatalogueEntry]


@functools.cache
def catalogue() -> Sequence[CatalogueEntry]:
    """All entries of the catalogue in its own order, read once."""
    text = (catalogue_directory() / "catalogue.json").read_text("utf-8")
    return tuple(_Catalogue.model_validate(json.loads(text)).entries)


def catalogue_entry(entry_id: str) -> CatalogueEntry:
    """The entry of that id; KeyError when there is none."""
    return {entry.id: entry for entry in catalogue()}[entry_id]


def catalogue_document(entry: CatalogueEntry) -> dict[str, Any]:
    """The description of an entry, as written in the catalogue."""
    document = load_json((catalogue_directory() / entry.file).read_text("utf-8"))
    if not isinstance(document, dict):
        raise TypeError(f"{entry.file} does not hold an object")
    return document


def fill_form(entry: CatalogueEntry, document: Mapping[str, Any], values: Mapping[str, object]) -> dict[str, Any]:
    """The entry's document with the form's values in their places; DescriptionError when a value is not allowed."""
    fields = {one.name: one for one in entry.fields}
    found = [
        Diagnostic("", Code.BAD_SETTING, f"the form has no field {name[:64]!r}", did_you_mean(name, list(fields)))
        for name in values
        if name not in fields
    ]
    known = [(fields[name], value) for name, value in values.items() if name in fields]
    found.extend(wrong for one, value in known for wrong in _wrong(one, value))
    assignments = [(path, value) for one, value in known for path in one.settings]
    return assign(document, assignments, found)


def form_schema(entry: CatalogueEntry) -> dict[str, Any]:
    """JSON Schema of an entry's form; `x-zoe` holds what a form needs beyond it (step, paths)."""
    return {
        "type": "object",
        "title": entry.title,
        "additionalProperties": False,
        "properties": {one.name: _field_schema(one) for one in entry.fields},
    }


def _field_schema(one: FormField) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": one.type,
        "title": one.title,
        "description": one.description,
        "default": one.default,
        "minimum": one.minimum,
        "maximum": one.maximum,
    }
    known = {key: value for key, value in schema.items() if value is not None}
    return {**known, "x-zoe": {"step": one.step, "settings": one.settings}}


_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def _wrong(one: FormField, value: object) -> list[Diagnostic]:
    is_flag = isinstance(value, bool)
    if not isinstance(value, _PYTHON_TYPES[one.type]) or is_flag != (one.type == "boolean"):
        return [Diagnostic("", Code.BAD_SETTING, f"{one.name}: must be of type {one.type}")]
    if isinstance(value, int | float) and not is_flag:
        low, high = one.minimum, one.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            return [Diagnostic("", Code.BAD_SETTING, f"{one.name}: must be between {low} and {high}")]
    return []
