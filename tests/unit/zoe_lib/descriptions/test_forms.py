"""Forms of the catalogue: sizes, and what roles may change."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from zoe_lib.descriptions import CatalogueEntry, DescriptionError, FormField, fill_form, form_schema

DOCUMENT: dict[str, Any] = {
    "version": 4,
    "name": "batch",
    "components": [{"name": "main", "image": "zoe/tiny", "resources": {"memory": "64MiB"}, "total_count": 2}],
}
MEMORY = FormField(
    name="memory",
    title="Memory",
    type="memory",
    default="64MiB",
    minimum="16MiB",
    maximum="1GiB",
    step="16MiB",
    settings=["main.resources.memory"],
    caps={"viewer": "128MiB"},
)
COUNT = FormField(
    name="count",
    title="Count",
    type="integer",
    default=2,
    settings=["main.total_count"],
    hidden_for=["viewer"],
    fixed_for=["user"],
)
ENTRY = CatalogueEntry(id="batch", title="Batch", category="Batch", file="batch.json", fields=[MEMORY, COUNT])  # type: ignore[call-arg]  # lists that are empty by default


def test_a_memory_field_is_in_bytes_and_a_slider() -> None:
    memory = form_schema(ENTRY)["properties"]["memory"]
    assert memory["type"] == "integer"
    assert (memory["default"], memory["minimum"], memory["maximum"]) == (64 << 20, 16 << 20, 1 << 30)
    assert memory["x-zoe"] == {"widget": "memory", "step": 16 << 20, "settings": ["main.resources.memory"]}


@pytest.mark.parametrize("value", [128 << 20, "128MiB"])
def test_a_memory_field_takes_bytes_and_texts(value: int | str) -> None:
    filled = fill_form(ENTRY, DOCUMENT, {"memory": value})
    assert filled["components"][0]["resources"]["memory"] == value


@pytest.mark.parametrize("value", ["2GiB", 1, "much", True, 1.5])
def test_a_memory_beyond_its_bounds_or_of_no_size_is_refused(value: object) -> None:
    with pytest.raises(DescriptionError, match="memory"):
        fill_form(ENTRY, DOCUMENT, {"memory": value})


def test_roles_see_and_change_what_the_catalogue_lets_them() -> None:
    viewer, user = form_schema(ENTRY, "viewer"), form_schema(ENTRY, "user")
    assert list(viewer["properties"]) == ["memory"]
    assert viewer["properties"]["memory"]["maximum"] == 128 << 20
    assert user["properties"]["count"]["readOnly"] is True
    assert user["properties"]["memory"]["maximum"] == 1 << 30
    assert "readOnly" not in form_schema(ENTRY, "admin")["properties"]["count"]


def test_change_beyond_the_role_is_refused() -> None:
    for role, values in (("viewer", {"count": 2}), ("viewer", {"memory": "256MiB"}), ("user", {"count": 3})):
        with pytest.raises(DescriptionError):
            fill_form(ENTRY, DOCUMENT, values, role)
    assert fill_form(ENTRY, DOCUMENT, {"count": 2}, "user")["components"][0]["total_count"] == 2
    assert fill_form(ENTRY, DOCUMENT, {"count": 3}, "admin")["components"][0]["total_count"] == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"icon": "https://example.org/a.svg"},
        {"icon": "unicorn"},
        {"tags": ["Two Words"]},
        {"tags": [""]},
        {"tags": ["spark", "spark"]},
        {"tags": [f"t{number}" for number in range(9)]},
        {"tags": ["t" * 25]},
        {"tags": "spark"},
    ],
)
def test_an_icon_that_no_page_has_and_bad_tags_are_refused(wrong: dict[str, Any]) -> None:
    entry = {"id": "batch", "title": "Batch", "category": "Batch", "file": "batch.json"}
    good = CatalogueEntry.model_validate({**entry, "icon": "terminal", "tags": ["shell", "two-words"]})
    assert (good.icon, good.tags) == ("terminal", ["shell", "two-words"])
    with pytest.raises(ValidationError):
        CatalogueEntry.model_validate({**entry, **wrong})


@pytest.mark.parametrize(("default", "refused"), [("echo hello", True), ("", False)])
def test_a_text_with_a_default_is_not_left_empty(default: str, refused: bool) -> None:
    """An empty command would run whatever the image runs."""
    text = FormField(name="command", title="Command", type="string", default=default, settings=["main.command"])
    entry = ENTRY.model_copy(update={"fields": [text]})
    if not refused:
        assert fill_form(entry, DOCUMENT, {"command": ""})["components"][0]["command"] == []
        return
    with pytest.raises(DescriptionError) as error:
        fill_form(entry, DOCUMENT, {"command": " "})
    assert [(one.pointer, one.message[:17]) for one in error.value.diagnostics] == [
        ("/values/command", "must not be empty")
    ]
