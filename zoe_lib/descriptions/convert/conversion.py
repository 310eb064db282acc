"""Convert an old description to a version-4 document with notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, pointer
from zoe_lib.descriptions.bounds import SERVICES_MAX
from zoe_lib.descriptions.convert.addresses import Addresses
from zoe_lib.descriptions.convert.component import convert_component
from zoe_lib.descriptions.convert.names import legal_label, legal_title
from zoe_lib.descriptions.convert.notes import ConversionDefaults, Note, Notes
from zoe_lib.descriptions.convert.old import OldService, amount_of, read_services, whole_number
from zoe_lib.descriptions.convert.storage_plugin import convert_plugins
from zoe_lib.descriptions.shape import check_shape

_KNOWN = {
    "name", "version", "will_end", "priority", "size", "requires_binary", "disable_autorestart", "plugins", "services",
    "processes",
}  # fmt: skip
_OLD_VERSIONS = range(4)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A version-4 document, and notes on its conversion."""

    document: dict[str, Any]
    notes: tuple[Note, ...] = ()


def convert(document: object, defaults: ConversionDefaults | None = None) -> Conversion:
    """Return the version-4 form of a description of any format; version 4 itself is returned unchanged.

    A description that is valid in its own format gives a document that `parse` accepts; DescriptionError if it is not a
    description.
    """
    wrong = check_shape(document)
    if wrong or not isinstance(document, dict):
        raise DescriptionError(wrong or [Diagnostic("", Code.WRONG_TYPE, "a description is a JSON object")])
    version = _version(document)
    if version not in _OLD_VERSIONS:
        return Conversion(document)
    notes = Notes()
    converted = _convert(document, version, defaults or ConversionDefaults(), notes)
    return Conversion(converted, tuple(notes.found))


def _version(document: Mapping[str, Any]) -> int:
    if "zapps" in document:
        hint = "a manifest describes catalogue entries, not an application"
        raise DescriptionError([Diagnostic("/zapps", Code.UNSUPPORTED_VERSION, "this is a manifest", hint)])
    version = amount_of(document.get("version"))
    if version is None and "processes" in document:
        return 0
    if version is None or not version.is_integer() or not 0 <= version <= 4:
        message = "'version' is missing or not one of 0 to 4"
        raise DescriptionError([Diagnostic("/version", Code.UNSUPPORTED_VERSION, message)])
    return int(version)


def _convert(document: Mapping[str, Any], version: int, defaults: ConversionDefaults, notes: Notes) -> dict[str, Any]:
    services = read_services(document, version, notes)
    _note_lost(document, services, notes)
    names = _names(services, notes)
    addresses = Addresses({s.name: name for s, name in reversed(list(zip(services, names, strict=True)))}, notes)
    components = [
        convert_component(service, name, version, addresses, defaults)
        for service, name in zip(services, names, strict=True)
    ]
    _set_end(services, components, notes)
    _set_core(services, components, addresses.referenced, notes)
    _bound_services(components, notes)
    converted: dict[str, Any] = {
        "version": 4,
        "name": _title(document, notes),
        "kind": "batch" if document.get("will_end") else "interactive",
        "components": components,
    }
    storage = convert_plugins(document.get("plugins"), notes)
    return {**converted, "storage": storage} if storage else converted


def _names(services: list[OldService], notes: Notes) -> list[str]:
    names: list[str] = []
    for service in services:
        name = legal_label(service.name, "service", names)
        if name != service.name:
            notes.add(f"{service.place}/name", f"{service.name[:64]!r} became {name!r}")
        names.append(name)
    return names


def _title(document: Mapping[str, Any], notes: Notes) -> str:
    old = str(document.get("name", ""))
    title = legal_title(old)
    if title != old:
        notes.add("/name", f"{old[:64]!r} became {title!r}")
    return title


def _set_end(services: list[OldService], components: list[dict[str, Any]], notes: Notes) -> None:
    """Make the first monitored service with one instance end the application."""
    monitored = [(s, c) for s, c in zip(services, components, strict=True) if s.monitor]
    single = [(s, c) for s, c in monitored if c["total_count"] == 1]
    if single:
        single[0][1].update(ends_application=True, essential_count=1)
    for service, component in monitored:
        if not component.get("ends_application"):
            message = "it does not end the application: only a component with one instance can"
            notes.add(f"{service.place}/monitor", message)


def _set_core(services: list[OldService], components: list[dict[str, Any]], referenced: set[str], notes: Notes) -> None:
    """Make a component essential if its address is needed, and make at least one instance of the application
    essential.
    """
    for service, component in zip(services, components, strict=True):
        lonely = component is components[0] and all(c["essential_count"] == 0 for c in components)
        if component["essential_count"] == 0 and (lonely or component["name"] in referenced):
            component["essential_count"] = 1
            notes.add(f"{service.place}/essential_count", "became 1: otherwise nothing could start")


def _bound_services(components: list[dict[str, Any]], notes: Notes) -> None:
    """Limit the number of services, which old formats did not: shrink the largest components, and remove none."""
    for component in sorted(components, key=lambda c: -int(c["total_count"])):
        excess = sum(c["total_count"] for c in components) - SERVICES_MAX
        if excess <= 0:
            return
        total = max(1, component["total_count"] - excess)
        notes.add("", f"{component['name']!r}: total_count {component['total_count']} became {total}")
        component.update(total_count=total, essential_count=min(component["essential_count"], total))


def _note_lost(document: Mapping[str, Any], services: list[OldService], notes: Notes) -> None:
    for key in sorted(document.keys() - _KNOWN):
        notes.add(pointer(key), "not a key of this format, left out")
    for key in ("size", "priority"):
        if whole_number(document.get(key)) is not None:
            notes.add(
                f"/{key}", f"{document[key]} has no unit in this format; set size.run_time_s or a priority instead"
            )
    if document.get("requires_binary"):
        notes.add("/requires_binary", "copy the program into the workspace before the application starts")
    if not document.get("disable_autorestart") and any(not service.monitor for service in services):
        notes.add("", "services are not restarted one by one; set retries for the whole execution")
