"""The OpenAPI document: stable operation ids, and declared refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from zoe_api.problems import MEDIA_TYPE
from zoe_lib.wire import Problem

_REFUSAL = {
    "description": "A refusal; `code` says which.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
# Declared by the framework, but never sent by this API.
_FOREIGN_SCHEMAS = ("HTTPValidationError", "ValidationError")


def operation_id(route: APIRoute) -> str:
    """Return the function's name: clients are generated from it, so these functions are not renamed."""
    return route.name


def install(app: FastAPI) -> None:
    """Make the application return this document."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = document["components"]["schemas"]
    for name in _FOREIGN_SCHEMAS:
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    for path, operation in _operations(document):
        responses = operation["responses"]
        responses.pop("422", None)
        if path.startswith("/api/"):
            responses["default"] = _REFUSAL
        if path.endswith(("/stream", "/v1/events")):
            responses["200"]["content"] = _STREAM
    return document


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            yield path, operation


def text(app: FastAPI) -> str:
    """Return the document as it is stored in the tree."""
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
