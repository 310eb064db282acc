"""Metric modules of the appendix dialect, `/registry/metric_module`: Python programs with a class `Metric`.

A module is a metric with the name of its file, or the `name` in the metadata. Other metadata are stored unchanged. A
program without such a class, as Crystal's own modules, which run inside Swift, is stored without values.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Body, Form, Response, UploadFile
from pydantic import TypeAdapter, ValidationError

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.database.supervision import Mode
from storage_controller.metrics.added import AddedMetrics, mode_of_enabled
from storage_controller.metrics.metric_store import KeptMetric, MetricSource
from storage_controller.metrics.process import SOURCE_BYTES_MAX, check_source
from storage_controller.metrics.values import MetricFault
from storage_controller.routes.parameters import Author, MetricsDep
from zoe_client.wire.storage.controllers import MetricName

PATH = "/registry/metric_module"
_NAME: TypeAdapter[str] = TypeAdapter(MetricName)
_OWN = ("id", "metric_name", "enabled")


router = APIRouter()


@router.post(PATH + "/data", status_code=201)
def upload(
    added: MetricsDep,
    file: UploadFile,
    response: Response,
    metadata: Annotated[str, Form(max_length=16384)] = "{}",
    author: Author = None,
) -> dict[str, Any]:
    """Store a program that measures a metric."""
    fields = _metadata(metadata)
    mode = mode_of_enabled(fields.get("enabled", True))
    name = str(fields.pop("name", None) or PurePath(file.filename or "").stem)
    try:
        _NAME.validate_python(name)
    except ValidationError:
        raise RequestRefusedError(
            400, f"{name[:80]!r} is not the name of a metric: use up to 64 letters, digits and _"
        ) from None
    content = file.file.read(SOURCE_BYTES_MAX + 1)
    try:
        source = content.decode()
        compile(source, name, "exec")
    except UnicodeDecodeError:
        raise RequestRefusedError(400, "a metric module is a program in Python, as UTF-8") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefusedError(400, f"a metric module is a program in Python: {error!r:.200}") from None
    attributes = {name: value for name, value in fields.items() if name not in _OWN}
    made, said = _add(added, name, source, attributes, author)
    response.headers.update(warning(said))
    if mode is not Mode.ON:
        added.kept.change(made.name, mode=mode)
    return _document(added.kept.metric(made.id))


@router.get(PATH)
def list_modules(added: MetricsDep) -> list[dict[str, Any]]:
    """List all metric modules, by their numbers."""
    modules = [metric for metric in added.kept.metrics() if metric.is_module]
    return [_document(module) for module in sorted(modules, key=lambda entry: entry.id)]


@router.get(PATH + "/{number}")
def show_module(added: MetricsDep, number: int) -> dict[str, Any]:
    """Show a metric module."""
    return _document(_module_numbered(added, number))


@router.get(PATH + "/{number}/data")
def data(added: MetricsDep, number: int) -> Response:
    """Return the program of a metric module."""
    return Response(_module_numbered(added, number).text, media_type="text/x-python")


@router.put(PATH + "/{number}")
def change(added: MetricsDep, number: int, given: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
    """Change fields of a metric module, or switch it on or off."""
    one = _module_numbered(added, number)
    mode = mode_of_enabled(given["enabled"]) if "enabled" in given else one.mode
    attributes = {**one.attributes, **{name: value for name, value in given.items() if name not in _OWN}}
    _metadata(json.dumps(attributes))
    added.kept.change(one.name, mode=mode, attributes=attributes)
    return _document(_module_numbered(added, number))


@router.delete(PATH + "/{number}", status_code=204)
def delete(added: MetricsDep, number: int) -> Response:
    """Remove a metric module that no rule uses."""
    added.drop(_module_numbered(added, number).name)
    return Response(status_code=204)


def _add(
    added: AddedMetrics, name: str, source: str, attributes: dict[str, Any], author: str | None
) -> tuple[KeptMetric, list[str]]:
    """Add a program, or store one that is not for Zoe; return it with the reason why it has no values."""
    if len(source) > SOURCE_BYTES_MAX:
        raise RequestRefusedError(400, f"the file is larger than {SOURCE_BYTES_MAX} bytes")
    try:
        check_source(source)
    except MetricFault as fault:
        made = added.add(name, MetricSource.NONE, source, attributes, author)
        return made, [f"stored, but not measured: {fault}"]
    return added.add(name, MetricSource.PYTHON, source, attributes, author), []


def _module_numbered(added: AddedMetrics, number: int) -> KeptMetric:
    one = added.kept.metric(number)
    if not one.is_module:
        raise RequestRefusedError(404, f"metric module {number} does not exist")
    return one


def _metadata(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or len(text) > 16384:
        raise RequestRefusedError(400, "metadata: a JSON object of at most 16384 characters")
    return fields


def _document(one: KeptMetric) -> dict[str, Any]:
    return {**one.attributes, "id": one.id, "metric_name": one.name, "enabled": one.mode is Mode.ON}
