"""Registered names of Crystal that change nothing by themselves: regions, zones, storage nodes, orders of proxies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from storage_controller.answers import RequestRefusedError
from storage_controller.crystal.records import RecordKind, Records, RecordsDep

_REGION, _ZONE = RecordKind.REGION, RecordKind.ZONE
Fields = Annotated[dict[str, Any], Body(min_length=1)]

router = APIRouter()


@router.get("/swift/regions")
def list_regions(records: RecordsDep) -> list[dict[str, Any]]:
    """List the regions."""
    return records.documents(_REGION)


@router.post("/swift/regions", status_code=201)
def add_region(records: RecordsDep, given: Fields) -> dict[str, Any]:
    """Create a region."""
    return _add(records, _REGION, given)


@router.get("/swift/regions/{number:int}")
def show_region(records: RecordsDep, number: int) -> dict[str, Any]:
    """Show a region."""
    return records.get(_REGION, number)


@router.put("/swift/regions/{number:int}", status_code=204)
def change_region(records: RecordsDep, number: int, given: Fields) -> Response:
    """Change fields of a region."""
    records.change(_REGION, number, given)
    return Response(status_code=204)


@router.delete("/swift/regions/{number:int}", status_code=204)
def delete_region(records: RecordsDep, number: int) -> Response:
    """Remove a region without zones."""
    records.get(_REGION, number)
    for zone, fields in records.all(_ZONE).items():
        if str(fields.get("region")) == str(number):
            raise RequestRefusedError(400, f"zone {zone} is in region {number}: remove it first")
    records.drop(_REGION, number)
    return Response(status_code=204)


@router.get("/swift/zones")
def list_zones(records: RecordsDep) -> list[dict[str, Any]]:
    """List the zones with the names of their regions."""
    regions = {str(number): one.get("name") for number, one in records.all(_REGION).items()}
    return [{**zone, "region_name": regions.get(str(zone.get("region")))} for zone in records.documents(_ZONE)]


@router.post("/swift/zones", status_code=201)
def add_zone(records: RecordsDep, given: Fields) -> dict[str, Any]:
    """Create a zone in a region."""
    _check_region(records, given.get("region"))
    return _add(records, _ZONE, given)


@router.get("/swift/zones/{number:int}")
def show_zone(records: RecordsDep, number: int) -> dict[str, Any]:
    """Show a zone."""
    return records.get(_ZONE, number)


@router.put("/swift/zones/{number:int}", status_code=204)
def change_zone(records: RecordsDep, number: int, given: Fields) -> Response:
    """Change fields of a zone."""
    if "region" in given:
        _check_region(records, given["region"])
    records.change(_ZONE, number, {name: value for name, value in given.items() if name != "zone_id"})
    return Response(status_code=204)


@router.delete("/swift/zones/{number:int}", status_code=204)
def delete_zone(records: RecordsDep, number: int) -> Response:
    """Remove a zone."""
    records.get(_ZONE, number)
    records.drop(_ZONE, number)
    return Response(status_code=204)


def _routes_of(kind: RecordKind, path: str, title: str) -> None:
    """Add the five calls of a kind of record without rules of its own."""

    def list_records(records: RecordsDep) -> list[dict[str, Any]]:
        return sorted(records.documents(kind), key=lambda record: str(record.get("name", "")))

    def add_record(records: RecordsDep, given: Fields) -> dict[str, Any]:
        return _add(records, kind, given)

    def show_record(records: RecordsDep, number: int) -> dict[str, Any]:
        return records.get(kind, number)

    def change_record(records: RecordsDep, number: int, given: Fields) -> dict[str, Any]:
        return records.change(kind, number, given)

    def delete_record(records: RecordsDep, number: int) -> Response:
        records.drop(kind, number)
        return Response(status_code=204)

    one = f"{path}/{{number:int}}"
    router.get(path, summary=f"List every {title}")(list_records)
    router.post(path, summary=f"Create {title}", status_code=201)(add_record)
    router.get(one, summary=f"Show {title}")(show_record)
    router.put(one, summary=f"Change {title}", status_code=201)(change_record)
    router.delete(one, summary=f"Remove {title}, if it exists", status_code=204)(delete_record)


_routes_of(RecordKind.STORAGE_NODE, "/registry/snode", "storage node")
_routes_of(RecordKind.SORTING, "/swift/sort_nodes", "order of proxies")


def _add(records: Records, kind: RecordKind, given: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in given.items() if name != "id"}
    return {**kept, "id": records.add(kind, kept)}


def _check_region(records: Records, region: object) -> None:
    if str(region) not in map(str, records.all(_REGION)):
        raise RequestRefusedError(400, f"region {str(region)[:40]} does not exist: create it first")
