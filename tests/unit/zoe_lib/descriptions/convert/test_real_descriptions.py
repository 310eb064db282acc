"""Descriptions that people of the original Zoe wrote: every one converts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zoe_lib.descriptions import convert, convert_manifest, form_schema, load_json, parse, to_document

DATA = os.environ.get("ZOE_TEST_DATA")
FILES = sorted(Path(DATA, "zapps").glob("*/*.json")) if DATA else []

pytestmark = pytest.mark.skipif(not FILES, reason="ZOE_TEST_DATA is not set")


@pytest.mark.parametrize("path", [p for p in FILES if "manifest" not in p.parent.name], ids=lambda path: path.name)
def test_each_description_converts(path: Path) -> None:
    converted = convert(load_json(path.read_bytes()))
    application = parse(converted.document)
    assert parse(to_document(application)) == application
    assert converted.notes
    assert sum(component.ends_application for component in application.components) == 1


@pytest.mark.parametrize("path", [p for p in FILES if "manifest" in p.parent.name], ids=lambda path: path.name)
def test_each_manifest_becomes_entries(path: Path) -> None:
    converted = convert_manifest(load_json(path.read_bytes()))
    assert converted.entries
    assert not converted.notes
    assert all(form_schema(entry) for entry in converted.entries)
