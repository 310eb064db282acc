"""The OpenAPI document in the tree is the one that the application gives, and clients can be made from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.api import Api
from zoe_api.http import openapi

KEPT = Path(__file__).parents[2] / "docs/reference/openapi.json"


@pytest.fixture
def document(shared_api: Api) -> dict[str, Any]:
    return shared_api.app.openapi()


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(path, operation) for path, methods in document["paths"].items() for operation in methods.values()]


def test_the_tree_keeps_the_present_document(shared_api: Api) -> None:
    assert KEPT.read_text() == openapi.text(shared_api.app), "run `make openapi`"
    assert shared_api.http(None).get("/api/v1/openapi.json").json() == shared_api.app.openapi()


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")


def test_operations_have_names_of_their_own(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)


def test_every_operation_says_what_it_does(document: dict[str, Any]) -> None:
    assert all(operation.get("description") for _, operation in operations(document))


def test_refusals_are_declared(document: dict[str, Any]) -> None:
    for path, operation in operations(document):
        if path.startswith("/api/"):
            refusal = operation["responses"]["default"]["content"]
            assert refusal == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        assert "422" not in operation["responses"]
    assert "code" in document["components"]["schemas"]["Problem"]["properties"]


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    wanted = set(re.findall(r"#/components/schemas/(\w+)", KEPT.read_text()))
    assert wanted == set(schemas)


def test_streams_are_declared_as_such(document: dict[str, Any]) -> None:
    streams = {
        path
        for path, o in operations(document)
        if "text/event-stream" in o["responses"].get("200", {}).get("content", {})
    }
    assert streams == {
        "/api/v1/events",
        "/api/v1/executions/{execution_id}/services/{service_id}/logs/stream",
    }
