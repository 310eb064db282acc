"""Workload metrics of the later dialect, `/metrics/`: uploaded modules, and the metrics that they give to rules.

A module NAME with `get` or `put` gives `get_NAME` and `put_NAME` while its status is Running. Zoe measures those that
it knows, and those of modules with a class `Metric` (docs/store/metrics.md). Crystal's own modules run inside Swift, so
they are stored only.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Body, Response, UploadFile

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.crystal.controllers import Metadata, read_file, read_metadata
from storage_controller.crystal.metrics.names import COUNTED, MEASURED
from storage_controller.crystal.records import RecordKind, RecordsDep
from storage_controller.metrics.added import AddedMetrics
from storage_controller.metrics.metric_store import MetricSource
from storage_controller.metrics.process import SOURCE_BYTES_MAX, check_source
from storage_controller.metrics.values import MetricFault
from storage_controller.routes.parameters import Author, MetricsDep
from storage_filters.rules.metrics import METRICS

_KIND = RecordKind.METRIC
_RUNNING = "Running"
_NAME = "metric_name"
router = APIRouter()


@router.get("/metrics/activated")
def list_activated(added: MetricsDep) -> list[dict[str, Any]]:
    """List the metrics that rules can name."""
    counted = [{"name": name, "type": "float", "source": "proxies"} for name in (*METRICS, *COUNTED)]
    return [*counted, *({"name": one.name, "type": "float", "source": one.source} for one in added.kept.metrics())]


@router.get("/metrics/")
def list_modules(records: RecordsDep) -> list[dict[str, Any]]:
    """List all metric modules."""
    return records.documents(_KIND)


@router.post("/metrics/data", status_code=201)
def upload(
    records: RecordsDep,
    added: MetricsDep,
    file: UploadFile,
    metadata: Metadata,
    response: Response,
    author: Author = None,
) -> dict[str, Any]:
    """Store a module, and start it if its status is Running."""
    fields = {**read_metadata(metadata), _NAME: _file_name(file)}
    content = read_file(file)
    number = records.add(_KIND, fields, content)
    response.headers.update(warning(_start(fields, content, added, author)))
    return {**fields, "id": number}


@router.get("/metrics/{number:int}")
def show_module(records: RecordsDep, number: int) -> dict[str, Any]:
    """Show a module."""
    return {**records.get(_KIND, number), "id": str(number)}


@router.post("/metrics/{number:int}")
def change(
    records: RecordsDep,
    added: MetricsDep,
    number: int,
    given: Annotated[dict[str, Any], Body()],
    response: Response,
    author: Author = None,
) -> dict[str, Any]:
    """Change fields of a module, start it, or stop it."""
    before = records.get(_KIND, number)
    fields = {**before, **{name: value for name, value in given.items() if name not in ("id", _NAME)}}
    _stop(set(_names(before)) - set(_names(fields)), added)
    response.headers.update(warning(_start(fields, records.data(_KIND, number), added, author)))
    return records.change(_KIND, number, fields)


@router.delete("/metrics/{number:int}", status_code=204)
def delete(records: RecordsDep, added: MetricsDep, number: int) -> Response:
    """Remove a module whose metrics no rule uses."""
    _stop(set(_names(records.get(_KIND, number))), added)
    records.drop(_KIND, number)
    return Response(status_code=204)


@router.put("/metrics/{number:int}/data", status_code=201)
def replace_program(
    records: RecordsDep, added: MetricsDep, number: int, file: UploadFile, response: Response, author: Author = None
) -> dict[str, Any]:
    """Replace the program of a module."""
    before = records.get(_KIND, number)
    content = read_file(file)
    _stop(set(_names(before)), added)
    records.keep_data(_KIND, number, content)
    fields = records.change(_KIND, number, {_NAME: _file_name(file)})
    response.headers.update(warning(_start(fields, content, added, author)))
    return fields


@router.get("/metrics/{number:int}/data")
def program(records: RecordsDep, number: int) -> Response:
    """Return the program of a module."""
    return Response(records.data(_KIND, number), media_type="text/x-python")


def _file_name(file: UploadFile) -> str:
    name = PurePath(file.filename or "").name
    if not PurePath(name).stem.isidentifier() or not name.isascii():
        raise RequestRefusedError(400, f"{name[:80]!r} cannot name a metric: use letters, digits and _")
    return name


def _names(fields: dict[str, Any]) -> list[str]:
    """Return the metrics that a module gives to rules, in capitals."""
    if fields.get("status") != _RUNNING:
        return []
    ways = [way for way in ("get", "put") if str(fields.get(way)).lower() == "true"]
    return [f"{way}_{PurePath(fields[_NAME]).stem}".upper() for way in ways]


def _start(fields: dict[str, Any], content: bytes, added: AddedMetrics, author: str | None) -> list[str]:
    """Add the metrics of a running module; return why some have no values."""
    there = {metric.name for metric in added.kept.metrics()}
    missing = [name for name in _names(fields) if name not in there and name not in COUNTED]
    own = _own_program(content) if missing else None
    for name in missing:
        text = MEASURED.get(name, own)
        source = MetricSource.NONE if text is None else MetricSource.PYTHON
        added.add(name, source, text or "", {"type": "float"}, author)
    unknown = [name for name in missing if name not in MEASURED and own is None]
    return [f"stored, but not measured: {', '.join(unknown)}; a module needs a class Metric"] if unknown else []


def _own_program(content: bytes) -> str | None:
    """Return a program with a class `Metric` that starts; None for other modules, such as Crystal's."""
    try:
        source = content[:SOURCE_BYTES_MAX].decode()
        check_source(source)
    except (UnicodeDecodeError, MetricFault):
        return None
    return source


def _stop(names: set[str], added: AddedMetrics) -> None:
    """Remove metrics. Raises RequestRefusedError if a rule uses one."""
    for name in sorted(names - set(COUNTED)):
        added.drop(name)
