"""The catalogue: descriptions with a title, a category and a form, for users who do not write JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean
from zoe_client.documents.load import load_json
from zoe_client.documents.quantities import bytes_of, size_text
from zoe_client.documents.scripts import INTERPRETERS
from zoe_client.documents.settings import assign
from zoe_client.running.script_forms import SCRIPT_FIELDS, script_document
from zoe_client.vocabulary import DescriptionIcon
from zoe_lib.descriptions import scalars as s
from zoe_lib.descriptions.catalogue_files import catalogue_directory
from zoe_lib.descriptions.model import Model

TAGS_MAX = 8
FieldType = Literal["string", "integer", "number", "boolean", "memory", "file"]
_WIDGETS = ("memory", "file")


def _with_interpreter(suffix: str) -> str:
    if suffix not in INTERPRETERS:
        raise ValueError(f"no interpreter runs {suffix}; there are {', '.join(INTERPRETERS)}")
    return suffix


def _different(tags: list[str]) -> list[str]:
    if len(set(tags)) < len(tags):
        raise ValueError("a tag occurs twice")
    return tags


Tags = Annotated[
    list[Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,22}[a-z0-9])?$")]],
    Field(max_length=TAGS_MAX),
    AfterValidator(_different),
]


class FormField(Model):
    """One field of an entry's form: its value goes to every path in `settings` (in the form of `set_values`).

    `memory` is a size: texts such as `2GiB` in the catalogue, bytes in forms. `file` is the path of a file in the
    workspace, or `shared:PATH`. For some roles a field may be hidden
    (`hidden_for`), fixed (`fixed_for`), or have a smaller maximum (`caps`). This keeps forms simple; it is no
    protection, since every user who may submit can write their own description.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
    title: s.Description
    description: s.Description = ""
    type: FieldType = "string"
    default: str | int | float | bool | None = None
    minimum: int | float | str | None = None
    maximum: int | float | str | None = None
    step: int | float | str | None = None
    settings: Annotated[list[str], Field(max_length=20)]
    hidden_for: list[str] = Field(default=[])
    fixed_for: list[str] = Field(default=[])
    caps: dict[str, int | float | str] = Field(default={})


class CatalogueEntry(Model):
    """An application to launch. `file` is relative to the catalogue; without `allowed_roles`, all roles but
    `denied_roles` see it.

    `icon` is one of the pages' icons, and `tags` are words to filter by. `script` is the suffix of the scripts that the
    form runs; its fields named in `SCRIPT_FIELDS` have no `settings`.
    """

    id: s.Label
    title: s.Description
    category: s.Description
    summary: s.Description = ""
    file: str
    readme: str | None = None
    script: Annotated[str, AfterValidator(_with_interpreter)] | None = None
    logo: str | None = None
    icon: Annotated[DescriptionIcon, Field(strict=False)] | None = None
    tags: Tags = Field(default=[])
    fields: Annotated[list[FormField], Field(default_factory=list, max_length=100)]
    allowed_roles: Annotated[list[str], Field(default_factory=list)]
    denied_roles: Annotated[list[str], Field(default_factory=list)]

    def is_visible_to(self, role: str) -> bool:
        """Return whether users with this role may launch it."""
        return role not in self.denied_roles and (not self.allowed_roles or role in self.allowed_roles)


class _Catalogue(Model):
    version: Literal[1]
    entries: list[CatalogueEntry]


@functools.cache
def catalogue() -> Sequence[CatalogueEntry]:
    """Return all entries of the catalogue in the catalogue's order; the file is read once."""
    text = (catalogue_directory() / "catalogue.json").read_text("utf-8")
    return tuple(_Catalogue.model_validate(json.loads(text)).entries)


def catalogue_entry(entry_id: str) -> CatalogueEntry:
    """Return the entry with this id; KeyError if there is none."""
    return {entry.id: entry for entry in catalogue()}[entry_id]


def catalogue_document(entry: CatalogueEntry) -> dict[str, Any]:
    """Return the description of an entry, as written in the catalogue."""
    document = load_json((catalogue_directory() / entry.file).read_text("utf-8"))
    if not isinstance(document, dict):
        raise TypeError(f"{entry.file} does not contain a JSON object")
    return document


def fill_form(
    entry: CatalogueEntry, document: Mapping[str, Any], values: Mapping[str, object], role: str | None = None
) -> dict[str, Any]:
    """Return the entry's document with the form's values filled in; DescriptionError if a value is not allowed.

    Without a role nothing is hidden, fixed or capped."""
    fields = {field.name: field for field in entry.fields if role is None or role not in field.hidden_for}
    diagnostics = [
        Diagnostic("", Code.BAD_SETTING, f"the form has no field {name[:64]!r}", did_you_mean(name, list(fields)))
        for name in values
        if name not in fields
    ]
    known = [(fields[name], value) for name, value in values.items() if name in fields]
    diagnostics.extend(wrong for field, value in known for wrong in _wrong(field, value, role))
    if entry.script is not None and not diagnostics:
        given = {field.name: field.default for field in entry.fields} | dict(values)
        document = script_document(document, entry.script, {name: given.get(name) for name in SCRIPT_FIELDS})
    assignments = [(path, value) for field, value in known for path in field.settings]
    return assign(document, assignments, diagnostics)


def form_schema(entry: CatalogueEntry, role: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of an entry's form for a role; `x-zoe` holds the rest that a form needs (widget, step,
    paths).
    """
    return {
        "type": "object",
        "title": entry.title,
        "additionalProperties": False,
        "properties": {
            field.name: _field_schema(field, role)
            for field in entry.fields
            if role is None or role not in field.hidden_for
        },
    }


def _field_schema(form_field: FormField, role: str | None) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": _JSON_TYPES.get(form_field.type, form_field.type),
        "title": form_field.title,
        "description": form_field.description,
        "default": _amount(form_field, form_field.default),
        "minimum": _amount(form_field, form_field.minimum),
        "maximum": _maximum(form_field, role),
        "readOnly": role in form_field.fixed_for or None,
    }
    present = {key: value for key, value in schema.items() if value is not None}
    extension = {
        "widget": form_field.type if form_field.type in _WIDGETS else None,
        "step": _amount(form_field, form_field.step),
        "settings": form_field.settings,
    }
    return {**present, "x-zoe": extension}


_JSON_TYPES: Mapping[str, str] = {"memory": "integer", "file": "string"}
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "memory": (int, str),
    "file": (str,),
}


_TYPE_WORDS: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "memory": "an amount of memory such as 1GiB",
    "file": "the path of a file",
}


def _amount(one: FormField, value: Any) -> Any:
    """Return numbers unchanged, and the text of a memory field in bytes."""
    return bytes_of(value) if one.type == "memory" and isinstance(value, str) else value


def _maximum(one: FormField, role: str | None) -> Any:
    bounds = [_amount(one, bound) for bound in (one.maximum, one.caps.get(role or "")) if bound is not None]
    return min(bounds, default=None)


def _wrong(form_field: FormField, value: object, role: str | None) -> list[Diagnostic]:
    is_flag = isinstance(value, bool)
    if not isinstance(value, _PYTHON_TYPES[form_field.type]) or is_flag != (form_field.type == "boolean"):
        return [_wrong_value(form_field, f"must be {_TYPE_WORDS[form_field.type]}")]
    try:
        amount = _amount(form_field, value)
    except ValueError as error:
        return [_wrong_value(form_field, str(error))]
    if role in form_field.fixed_for and amount != _amount(form_field, form_field.default):
        return [_wrong_value(form_field, f"must be {form_field.default} for the role {role}")]
    if isinstance(amount, int | float) and not is_flag:
        low, high = _amount(form_field, form_field.minimum), _maximum(form_field, role)
        if (low is not None and amount < low) or (high is not None and amount > high):
            return [_wrong_value(form_field, _between(form_field, low, high))]
    if form_field.type == "string" and form_field.default and not str(value).strip():
        return [_wrong_value(form_field, f"must not be empty; it is, for example: {form_field.default}")]
    return []


def _between(form_field: FormField, *bounds: Any) -> str:
    low, high = (size_text(bound) if form_field.type == "memory" and bound else bound for bound in bounds)
    if low is None or high is None:
        return f"must be at most {high}" if low is None else f"must be at least {low}"
    return f"must be between {low} and {high}"


def _wrong_value(form_field: FormField, message: str) -> Diagnostic:
    return Diagnostic(f"/values/{form_field.name}", Code.BAD_SETTING, message)


def _finding(message: str) -> Diagnostic:
    return Diagnostic("", Code.BAD_SETTING, message)
