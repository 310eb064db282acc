"""The OpenAPI document: stable operation ids, and declared refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from zoe_api.http.position_headers import WANTED, WRITTEN
from zoe_api.http.problems.problems import MEDIA_TYPE
from zoe_client.wire import Problem
from zoe_lib.descriptions.schema import json_schema

_SCHEMAS = "#/components/schemas/"
_REFUSAL = {
    "description": "A refusal; `code` says which.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}},
}
_DESCRIPTION = "Description"
_WITH_DESCRIPTION = ("PlanRequest", "SubmitRequest", "ValidateRequest")
_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_POSITION = {
    "description": "Position of this request's change in the journal, for `Zoe-No-Older-Than`.",
    "schema": {"type": "integer"},
}
# Declared by the framework, but never sent by this API.
_FOREIGN_SCHEMAS = ("HTTPValidationError", "ValidationError")


def operation_id(route: APIRoute) -> str:
    """Return the function's name: clients are generated from it, so these functions are never renamed."""
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
    problem = Problem.model_json_schema(ref_template=_SCHEMAS + "{model}")
    schemas.update(problem.pop("$defs"))
    schemas["Problem"] = problem
    _add_descriptions(schemas)
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    document["components"]["headers"] = {"Position": _POSITION}
    for path, method, operation in _operations(document):
        responses = operation["responses"]
        responses.pop("422", None)
        if path.startswith("/api/"):
            responses["default"] = _REFUSAL
        if path.endswith(("/stream", "/v1/events")):
            responses["200"]["content"] = _STREAM
        _refer_to_positions(document, method, operation)
    return document


def _refer_to_positions(document: dict[str, Any], method: str, operation: dict[str, Any]) -> None:
    """Define the headers of positions once for all operations."""
    given = operation.get("parameters", [])
    for index, parameter in enumerate(given):
        if parameter.get("name") == WANTED:
            document["components"].setdefault("parameters", {})["NoOlderThan"] = parameter
            given[index] = {"$ref": "#/components/parameters/NoOlderThan"}
            for status, answer in operation["responses"].items():
                if status.startswith("2") and method != "get":
                    answer["headers"] = {WRITTEN: {"$ref": "#/components/headers/Position"}}


def _add_descriptions(schemas: dict[str, Any]) -> None:
    """Add the schema of descriptions, and refer to it in requests that contain one.

    The models leave descriptions open: their parser reports all errors at once, in more detail.
    """
    text = re.sub(r'"#/\$defs/(\w+)"', rf'"{_SCHEMAS}{_DESCRIPTION}\1"', json.dumps(json_schema()))
    description = json.loads(text)
    del description["$schema"]
    parts = {f"{_DESCRIPTION}{name}": part for name, part in description.pop("$defs").items()}
    taken = {_DESCRIPTION, *parts} & set(schemas)
    assert not taken, taken
    schemas.update({_DESCRIPTION: description, **parts})
    for name in _WITH_DESCRIPTION:
        schemas[name]["properties"]["application"]["$ref"] = f"{_SCHEMAS}{_DESCRIPTION}"


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def text(app: FastAPI) -> str:
    """Return the document as stored in the source tree."""
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
