"""Controllers of Crystal, their instances, and its bandwidth controllers: programs that run inside Crystal.

They are stored and listed. Zoe runs none of them: its own controllers, such as `bandwidth`, are at `/v1/controllers`.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Form, Response, UploadFile

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.crystal.dependencies import DATA_BYTES_MAX
from storage_controller.crystal.records import RecordKind, Records, RecordsDep

_NOT_RUN = "stored, but not run: the controllers of zoe-storage are at /v1/controllers"
_CONTROLLER, _INSTANCE, _BANDWIDTH = RecordKind.CONTROLLER, RecordKind.INSTANCE, RecordKind.BANDWIDTH_CONTROLLER
Fields = Annotated[dict[str, Any], Body(min_length=1)]
Metadata = Annotated[str, Form(max_length=16384)]

router = APIRouter()


@router.get("/bw/controllers")
def list_bandwidth_controllers(records: RecordsDep) -> list[dict[str, Any]]:
    """List the bandwidth controllers."""
    return records.documents(_BANDWIDTH)


@router.post("/bw/controllers", status_code=201)
def add_bandwidth_controller(records: RecordsDep, given: Fields, response: Response) -> dict[str, Any]:
    """Store a bandwidth controller."""
    response.headers.update(warning([_NOT_RUN]))
    return {**given, "id": records.add(_BANDWIDTH, _without_id(given))}


@router.get("/bw/controller/{number:int}")
def show_bandwidth_controller(records: RecordsDep, number: int) -> dict[str, Any]:
    """Show a bandwidth controller."""
    return _document(records, _BANDWIDTH, number)


@router.put("/bw/controller/{number:int}", status_code=201)
def change_bandwidth_controller(records: RecordsDep, number: int, given: Fields) -> dict[str, Any]:
    """Change fields of a bandwidth controller."""
    return records.change(_BANDWIDTH, number, _without_id(given))


@router.delete("/bw/controller/{number:int}", status_code=204)
def delete_bandwidth_controller(records: RecordsDep, number: int) -> Response:
    """Remove a bandwidth controller, if it exists."""
    records.drop(_BANDWIDTH, number)
    return Response(status_code=204)


@router.get("/controllers")
def list_controllers(records: RecordsDep) -> list[dict[str, Any]]:
    """List the controllers."""
    return [_counted(records, number) for number in records.all(_CONTROLLER)]


@router.post("/controllers/data", status_code=201)
def upload(records: RecordsDep, file: UploadFile, metadata: Metadata, response: Response) -> dict[str, Any]:
    """Store a controller: its program, and its fields in the metadata."""
    fields = read_metadata(metadata) | {"controller_name": file.filename or ""}
    response.headers.update(warning([_NOT_RUN]))
    return {**fields, "id": records.add(_CONTROLLER, fields, read_file(file))}


@router.get("/controllers/instances")
def list_instances(records: RecordsDep) -> list[dict[str, Any]]:
    """List the instances, each with the name of its controller's program."""
    names = {str(number): one.get("controller_name") for number, one in records.all(_CONTROLLER).items()}
    return [{**one, "controller": names.get(str(one["controller"]))} for one in records.documents(_INSTANCE)]


@router.post("/controllers/instance", status_code=201)
def add_instance(records: RecordsDep, given: Fields) -> dict[str, Any]:
    """Store an instance of a controller."""
    number = str(given.get("controller", ""))
    if not number.isascii() or not number.isdecimal() or int(number) not in records.all(_CONTROLLER):
        raise RequestRefusedError(400, f"an instance needs a controller: {number[:40] or 'none'} does not exist")
    _refuse_start(given)
    return {**given, "id": records.add(_INSTANCE, _without_id(given))}


@router.get("/controllers/instance/{number:int}")
def show_instance(records: RecordsDep, number: int) -> dict[str, Any]:
    """Show an instance."""
    return records.get(_INSTANCE, number)


@router.put("/controllers/instance/{number:int}", status_code=201)
def change_instance(records: RecordsDep, number: int, given: Fields) -> dict[str, Any]:
    """Change fields of an instance."""
    _refuse_start(given)
    return records.change(_INSTANCE, number, _without_id(given))


@router.delete("/controllers/instance/{number:int}", status_code=204)
def delete_instance(records: RecordsDep, number: int) -> Response:
    """Remove an instance."""
    if number not in records.all(_INSTANCE):
        raise RequestRefusedError(400, f"{_INSTANCE} {number} does not exist")
    records.drop(_INSTANCE, number)
    return Response(status_code=204)


@router.get("/controllers/{number:int}")
def show_controller(records: RecordsDep, number: int) -> dict[str, Any]:
    """Show a controller with the number of its instances."""
    records.get(_CONTROLLER, number)
    return _counted(records, number)


@router.put("/controllers/{number:int}")
def change_controller(records: RecordsDep, number: int, given: Fields) -> dict[str, Any]:
    """Change fields of a controller."""
    return records.change(_CONTROLLER, number, _without_id(given))


@router.delete("/controllers/{number:int}", status_code=204)
def delete_controller(records: RecordsDep, number: int) -> Response:
    """Remove a controller without instances."""
    if number not in records.all(_CONTROLLER):
        raise RequestRefusedError(400, f"{_CONTROLLER} {number} does not exist")
    if _counted(records, number)["instances"]:
        raise RequestRefusedError(400, f"{_CONTROLLER} {number} has instances: remove them first")
    records.drop(_CONTROLLER, number)
    return Response(status_code=204)


@router.put("/controllers/{number:int}/data", status_code=201)
def replace_program(records: RecordsDep, number: int, file: UploadFile) -> dict[str, Any]:
    """Replace the program of a controller."""
    records.keep_data(_CONTROLLER, number, read_file(file))
    return records.change(_CONTROLLER, number, {"controller_name": file.filename or ""})


@router.get("/controllers/{number:int}/data")
def program(records: RecordsDep, number: int) -> Response:
    """Return the program of a controller."""
    return Response(records.data(_CONTROLLER, number), media_type="text/x-python")


def read_file(file: UploadFile) -> bytes:
    """Return an uploaded file. Raises RequestRefusedError if it is too large."""
    content = file.file.read(DATA_BYTES_MAX + 1)
    if len(content) > DATA_BYTES_MAX:
        raise RequestRefusedError(400, f"the file is larger than {DATA_BYTES_MAX} bytes")
    return content


def read_metadata(text: str) -> dict[str, Any]:
    """Return the fields of an upload, a JSON object. Raises RequestRefusedError."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not fields:
        raise RequestRefusedError(400, "metadata: a JSON object of at most 16384 characters, with at least one field")
    return _without_id(fields)


def _counted(records: Records, number: int) -> dict[str, Any]:
    """Return a controller with the number of its instances, which no client sets."""
    mine = [one for one in records.all(_INSTANCE).values() if str(one["controller"]) == str(number)]
    return {**_document(records, _CONTROLLER, number), "instances": len(mine)}


def _document(records: Records, kind: RecordKind, number: int) -> dict[str, Any]:
    return {**records.get(kind, number), "id": str(number)}


def _refuse_start(given: dict[str, Any]) -> None:
    if given.get("status") == "Running":
        raise RequestRefusedError(
            409, "zoe-storage runs no controllers of Crystal: see its own at /v1/controllers, and write a rule"
        )


def _without_id(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "id"}
