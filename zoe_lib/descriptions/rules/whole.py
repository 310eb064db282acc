"""Rules for the whole document: duplicates, contradictions and references between parts of an expanded document.

They read the plain document and skip values of the wrong type, so that their findings appear together with the
structural ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, duplicates, pointer
from zoe_client.documents.reading import mapping, number, objects, text
from zoe_lib.descriptions import bounds
from zoe_lib.descriptions.rules.component import check_component
from zoe_lib.descriptions.rules.storage import check_storage
from zoe_lib.descriptions.rules.templates import check_templates
from zoe_lib.domain.applications.templates import SELF

_PLACE = pointer("components")


def check_rules(document: dict[str, Any], complete: bool, each: str | None = None) -> Iterator[Diagnostic]:
    """Yield all findings; if not `complete` (a framework is missing), leave out consequences of that. `each`: the
    template name of a list's entry.
    """
    components = objects(document, "components")
    yield from duplicates(((pointer("components", i, "name"), text(c, "name")) for i, c in components), "component")
    yield from check_one_deadline(pointer("deadline"), document)
    yield from _check_reserved_names(components)
    yield from _check_end(components)
    telling = [pointer("components", i, "progress") for i, c in components if c.get("progress") is not None]
    for place in telling[1:]:
        yield Diagnostic(place, Code.CONFLICT, "another component already reports the progress")
    for index, component in components:
        yield from check_component(pointer("components", index), component)
    yield from check_storage(document.get("storage"))
    if complete:
        yield from _check_drivers(components)
        yield from _check_counts(components)
        yield from _check_file_bytes(components)
        yield from check_templates(components, document.get("storage"), each)


def _check_drivers(components: list[tuple[int, dict[str, Any]]]) -> Iterator[Diagnostic]:
    """Yield findings of scaling by a Spark driver: one component has an http port of this name."""
    ports = [port for _, component in components for _, port in objects(component, "ports")]
    http = [text(port, "name") for port in ports if port.get("protocol") == "http"]
    for index, component in components:
        named = text(mapping(component, "scaling"), "spark")
        place = pointer("components", index, "scaling", "spark")
        if named is not None and named not in http:
            hint = did_you_mean(named, [name for name in http if name])
            yield Diagnostic(place, Code.UNKNOWN_REFERENCE, f"no component has an http port {named[:64]!r}", hint)
        elif named is not None and http.count(named) > 1:
            message = f"several components have a port {named[:64]!r}"
            yield Diagnostic(place, Code.CONFLICT, message, "give the port of the driver a name of its own")


def check_one_deadline(place: str, document: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield a finding if a deadline is given in both ways."""
    if document.get("deadline") is not None and document.get("deadline_s") is not None:
        yield Diagnostic(place, Code.CONFLICT, "give `deadline` or `deadline_s`, not both")


def _check_reserved_names(components: list[tuple[int, dict[str, Any]]]) -> Iterator[Diagnostic]:
    for index, component in components:
        if component.get("name") == SELF:
            place = pointer("components", index, "name")
            yield Diagnostic(
                place, Code.CONFLICT, f"{SELF!r} is reserved: in templates it means the service itself", "take another"
            )


def _check_end(components: list[tuple[int, dict[str, Any]]]) -> Iterator[Diagnostic]:
    ending = [(i, c) for i, c in components if c.get("ends_application") is True]
    for index, _ in ending[1:]:
        place = pointer("components", index, "ends_application")
        yield Diagnostic(place, Code.CONFLICT, "another component already ends the application")
    for index, component in ending:
        for key in ("essential_count", "total_count"):
            if (number(component, key) if key in component else 1) != 1:
                message = "the component that ends the application must have exactly one instance, which is essential"
                yield Diagnostic(pointer("components", index, key), Code.CONFLICT, message, "write 1")


def _check_counts(components: list[tuple[int, dict[str, Any]]]) -> Iterator[Diagnostic]:
    if not components:
        hint = "add a component, or use a framework"
        yield Diagnostic(_PLACE, Code.MISSING, "the application has no components", hint)
        return
    if len(components) > bounds.COMPONENTS_MAX:
        yield Diagnostic(
            _PLACE, Code.OUT_OF_RANGE, f"more than {bounds.COMPONENTS_MAX} components, including those of frameworks"
        )
    if all(c.get("essential_count", 1) == 0 for _, c in components):
        hint = "set essential_count to 1 or more where an instance is needed for useful work"
        yield Diagnostic(_PLACE, Code.CONFLICT, "no component has an essential instance", hint)
    total = sum(max(0, number(c, "total_count") or 0) if "total_count" in c else 1 for _, c in components)
    if total > bounds.SERVICES_MAX:
        yield Diagnostic(_PLACE, Code.OUT_OF_RANGE, f"{total} services in total; the maximum is {bounds.SERVICES_MAX}")


def _check_file_bytes(components: list[tuple[int, dict[str, Any]]]) -> Iterator[Diagnostic]:
    texts = [text for _, c in components for text in mapping(c, "files").values() if isinstance(text, str)]
    if sum(len(text.encode(errors="replace")) for text in texts) > bounds.FILES_BYTES_MAX:
        message = f"the files of all components have more than {bounds.FILES_BYTES_MAX // bounds.KIB} KiB"
        yield Diagnostic(_PLACE, Code.TOO_BIG, message, "put large files into the workspace")
