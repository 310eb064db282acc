"""Manifests of the original catalogue as catalogue entries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.zoe_lib.descriptions.convert.old_documents import v3
from zoe_lib.descriptions import (
    CatalogueEntry,
    DescriptionError,
    convert,
    convert_manifest,
    fill_form,
    form_schema,
    parse,
)


def parameter(kind: str, name: str, **more: Any) -> dict[str, Any]:
    text = {"readable_name": "Title", "description": "Text", "type": "string", "default": "x"}
    return {"kind": kind, "name": name, **text, **more}


def entry(**zapp: Any) -> CatalogueEntry:
    base = {
        "name": "My app",
        "category": "Tests",
        "description": "app.json",
        "readable_descr": "README.md",
        "parameters": [],
    }
    (found,) = convert_manifest({"version": 1, "zapps": [{**base, **zapp}]}).entries
    return found


def test_an_entry() -> None:
    found = entry(logo="logo.png", disabled_for=["student"])
    assert (found.id, found.title, found.category, found.file) == ("my-app", "My app", "Tests", "app.json")
    assert (found.readme, found.logo) == ("README.md", "logo.png")
    assert not found.is_visible_to("student")
    assert found.is_visible_to("teacher")


def test_a_picture_becomes_no_icon_and_a_note_says_so() -> None:
    zapp = {"name": "a", "description": "a.json", "logo": "logo.png"}
    found = convert_manifest({"version": 1, "zapps": [zapp]})
    assert (found.entries[0].icon, found.entries[0].tags) == (None, [])
    assert [str(note) for note in found.notes] == [
        "/zapps/0/logo: pages show no picture of a manifest; choose an `icon`"
    ]


def test_entry_is_visible_to_its_roles_only() -> None:
    assert entry(enabled_for=["teacher"]).is_visible_to("teacher")
    assert not entry(enabled_for=["teacher"]).is_visible_to("student")
    assert entry(enabled_for=["all"]).is_visible_to("student")
    assert not entry(guest_access=False).is_visible_to("guest")


def test_form_values_reach_the_converted_description() -> None:
    number = {"type": "int", "default": 1, "min": 1, "max": 4, "step": 1}
    parameters = [
        parameter("environment", "HOST"),
        parameter("command", "web"),
        parameter("service_count", "web", **number),
    ]
    found = entry(parameters=parameters)
    assert form_schema(found)["properties"]["web.service_count"]["maximum"] == 4
    document = convert(v3(environment=[["HOST", "old"]], monitor=False)).document
    values = {"host.environment": "new", "web.command": "run 'a b'", "web.service_count": 3}
    (web,) = parse(fill_form(found, document, values)).components
    assert dict(web.environment)["HOST"] == "new"
    assert web.command == ("run", "a b")
    assert (web.essential_count, web.total_count) == (3, 3)
    with pytest.raises(DescriptionError, match="between 1 and 4"):
        fill_form(found, document, {"web.service_count": 5})


def test_untranslatable_parts_are_noted() -> None:
    zapp = {"description": "a.json", "labels": ["x"], "parameters": [parameter("magic", "a"), 3]}
    converted = convert_manifest({"version": 1, "zapps": [zapp]})
    assert len(converted.notes) == 3
    assert converted.entries[0].category == "Other"


def test_entries_of_one_name_have_different_ids() -> None:
    zapp = {"name": "A", "description": "a.json"}
    assert [e.id for e in convert_manifest({"version": 1, "zapps": [zapp, zapp]}).entries] == ["a", "a-2"]


@pytest.mark.parametrize(
    "manifest",
    [None, {}, {"version": 2, "zapps": []}, {"version": 1, "zapps": {}}, {"version": 1, "zapps": [{}]}],
)
def test_invalid_manifest_is_refused(manifest: object) -> None:
    with pytest.raises(DescriptionError):
        convert_manifest(manifest)
