"""Convert catalogue manifests of the original Zoe to catalogue entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, pointer
from zoe_lib.descriptions.catalogue import CatalogueEntry, FieldType, FormField
from zoe_lib.descriptions.convert.names import legal_label, legal_variable
from zoe_lib.descriptions.convert.notes import Note, Notes
from zoe_lib.descriptions.convert.old import amount_of, sequence, whole_number
from zoe_lib.descriptions.shape import check_shape

_TYPES: Mapping[str, FieldType] = {"int": "integer", "number": "number", "float": "number", "bool": "boolean"}


@dataclass(frozen=True, slots=True)
class ManifestConversion:
    """Entries for the descriptions in a manifest, and notes on the conversion."""

    entries: tuple[CatalogueEntry, ...]
    notes: tuple[Note, ...] = ()


def convert_manifest(manifest: object) -> ManifestConversion:
    """Return the entries of a manifest (version 1); `file` is the name in the manifest, of a description not yet
    converted.
    """
    wrong = check_shape(manifest)
    if not wrong and (not isinstance(manifest, dict) or not isinstance(manifest.get("zapps"), list)):
        wrong = [Diagnostic("/zapps", Code.MISSING, "a manifest needs a list of zapps")]
    if wrong or not isinstance(manifest, dict):
        raise DescriptionError(wrong)
    if whole_number(manifest.get("version")) != 1:
        raise DescriptionError([Diagnostic("/version", Code.UNSUPPORTED_VERSION, "a manifest needs version 1")])
    notes, entries = Notes(), list[CatalogueEntry]()
    for index, zapp in enumerate(manifest["zapps"]):
        place = pointer("zapps", index)
        if not isinstance(zapp, dict) or not isinstance(zapp.get("description"), str):
            raise DescriptionError([Diagnostic(place, Code.MISSING, "it does not refer to a description")])
        entries.append(_entry(zapp, place, {entry.id for entry in entries}, notes))
    return ManifestConversion(tuple(entries), tuple(notes.found))


def _entry(zapp: Mapping[str, Any], place: str, taken: set[str], notes: Notes) -> CatalogueEntry:
    title = str(zapp.get("name", zapp["description"]))[:4096]
    if zapp.get("labels"):
        notes.add(f"{place}/labels", "labels belong in the description; left out")
    if zapp.get("logo"):
        notes.add(f"{place}/logo", "pages show no picture of a manifest; choose an `icon`")
    fields = [
        field
        for index, raw in enumerate(sequence(zapp, "parameters"))
        if (field := _field(raw, f"{place}/parameters/{index}", notes))
    ]
    guests = ["guest"] if zapp.get("guest_access") is False else []
    return CatalogueEntry(
        id=legal_label(title, "entry", taken),
        title=title,
        category=str(zapp.get("category", "Other"))[:4096],
        file=zapp["description"],
        readme=_text(zapp.get("readable_descr")),
        logo=_text(zapp.get("logo")),
        fields=fields[:100],
        allowed_roles=[role for role in _roles(zapp, "enabled_for") if role != "all"],
        denied_roles=[*_roles(zapp, "disabled_for"), *guests],
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _roles(zapp: Mapping[str, Any], key: str) -> list[str]:
    roles = [role for role in sequence(zapp, key) if isinstance(role, str)]
    return [] if key == "enabled_for" and "all" in roles else roles


def _field(raw: object, place: str, notes: Notes) -> FormField | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        notes.add(place, "not a parameter; left out")
        return None
    settings = _settings(str(raw.get("kind")), raw["name"])
    if not settings:
        notes.add(place, f"unknown kind of parameter {str(raw.get('kind'))[:64]!r}; left out")
        return None
    kind = _TYPES.get(str(raw.get("type")), "string")
    numeric = kind in {"integer", "number"}
    return FormField(
        name=legal_label(raw["name"], "field") + f".{raw['kind']}",
        title=str(raw.get("readable_name", raw["name"]))[:4096],
        description=str(raw.get("description", ""))[:4096],
        type=kind,
        default=raw.get("default") if isinstance(raw.get("default"), str | int | float | bool) else None,
        minimum=_number(raw.get("min")) if numeric else None,
        maximum=_number(raw.get("max")) if numeric else None,
        step=_number(raw.get("step")) if numeric else None,
        settings=settings,
    )


def _settings(kind: str, name: str) -> list[str]:
    """Return the target of a parameter: a variable of every service that has it, or a service's command or count."""
    component = legal_label(name, "service")
    match kind:
        case "environment":
            return [f"*.environment.{legal_variable(name)}"]
        case "command":
            return [f"{component}.command"]
        case "service_count":
            return [f"{component}.total_count", f"{component}.essential_count"]
    return []


def _number(value: object) -> int | float | None:
    amount = amount_of(value)
    return int(amount) if amount is not None and amount.is_integer() else amount
