"""Read formats 0 to 3 into one form, as leniently as the original, which accepted "3" and 3.0 for 3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, pointer
from zoe_lib.descriptions.convert.notes import Notes

_KNOWN = {
    "name", "version", "docker_image", "image", "monitor", "ports", "required_resources", "resources", "environment",
    "command", "volumes", "networks", "network", "constraints", "labels", "work_dir", "replicas", "essential_count",
    "total_count", "startup_order",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OldService:
    """A process or service of an old description; amounts that are absent, null or not positive are None."""

    place: str
    name: str
    image: str
    monitor: bool
    command: str
    environment: list[tuple[str, str]]
    ports: list[object]
    volumes: list[object]
    memory: float | None
    memory_limit: float | None
    cores: float | None
    cores_limit: float | None
    shm: float | None
    essential_count: int
    total_count: int
    startup_order: int
    work_dir: str | None
    labels: list[object]
    constraints: list[object]


def read_services(document: Mapping[str, Any], version: int, notes: Notes) -> list[OldService]:
    """Return the services of an old description; DescriptionError if there are none, or if one is invalid."""
    key = "processes" if "processes" in document else "services"
    raw = document.get(key)
    if not isinstance(raw, list) or not raw:
        raise _error(pointer(key), Code.MISSING, f"the list {key} is missing")
    return [_service(pointer(key, i), entry, version, i, notes) for i, entry in enumerate(raw)]


def whole_number(value: object) -> int | None:
    """Return a whole number as the original read it, or None."""
    amount = amount_of(value)
    return None if amount is None else int(amount)


def amount_of(value: object) -> float | None:
    """Return a number, also if it is written as text, or None."""
    if not isinstance(value, int | float | str):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) else None


def sequence(owner: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under this key; empty if it is missing or has another type."""
    found = owner.get(key)
    return found if isinstance(found, list) else []


def _service(place: str, raw: object, version: int, index: int, notes: Notes) -> OldService:
    if not isinstance(raw, dict):
        raise _error(place, Code.WRONG_TYPE, "a service must be an object")
    image = raw.get("image", raw.get("docker_image"))
    for key, value in (("name", raw.get("name")), ("image", image)):
        if not isinstance(value, str) or not value:
            raise _error(place, Code.MISSING, f"the service lacks {key}")
    _note_lost(place, raw, notes)
    resources = _resources(raw)
    counted = version >= 2
    return OldService(
        place=place,
        name=raw["name"],
        image=str(image),
        monitor=bool(raw.get("monitor")),
        command=raw["command"] if isinstance(raw.get("command"), str) else "",
        environment=list(_pairs(raw)),
        ports=sequence(raw, "ports"),
        volumes=sequence(raw, "volumes"),
        memory=_positive(resources["memory"][0]),
        memory_limit=_positive(resources["memory"][1]),
        cores=_positive(resources["cores"][0]),
        cores_limit=_positive(resources["cores"][1]),
        shm=_positive(resources["shm"][0]),
        essential_count=_count(place, raw, "essential_count") if counted else 1,
        total_count=_count(place, raw, "total_count") if counted else 1,
        # Formats 0 and 1 started services in the order of the list.
        startup_order=_count(place, raw, "startup_order", 0) if counted else index,
        work_dir=raw["work_dir"] if isinstance(raw.get("work_dir"), str) else None,
        labels=sequence(raw, "labels"),
        constraints=sequence(raw, "constraints"),
    )


def _resources(raw: Mapping[str, Any]) -> dict[str, tuple[object, object]]:
    """Return (least, most) of each resource; formats 0 to 2 have one number, format 3 an object of min and max."""
    given = raw.get("resources", raw.get("required_resources"))
    given = given if isinstance(given, dict) else {}
    found: dict[str, tuple[object, object]] = {}
    for key, names in (("memory", ("memory",)), ("cores", ("cores",)), ("shm", ("shm", "shm_size"))):
        value = next((given[name] for name in names if name in given), None)
        found[key] = (value.get("min"), value.get("max")) if isinstance(value, dict) else (value, None)
    return found


def _positive(value: object) -> float | None:
    amount = amount_of(value)
    return amount if amount is not None and amount > 0 else None


def _count(place: str, raw: Mapping[str, Any], key: str, default: int = 1) -> int:
    if key not in raw:
        return default
    found = whole_number(raw[key])
    if found is None:
        raise _error(f"{place}/{key}", Code.WRONG_TYPE, "must be a whole number")
    return found


def _pairs(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return variables as (name, value) from the original's lists of two texts."""
    for pair in sequence(raw, "environment"):
        if isinstance(pair, list) and pair and all(isinstance(part, str) for part in pair):
            yield pair[0], pair[1] if len(pair) > 1 else ""


def _note_lost(place: str, raw: Mapping[str, Any], notes: Notes) -> None:
    for key in sorted(raw.keys() - _KNOWN):
        notes.add(place + pointer(key), "not a key of this format, left out")
    if raw.get("networks") or raw.get("network"):
        notes.add(f"{place}/network", "the back-end provides networks; the service joins the network of its execution")
    replicas = whole_number(raw.get("replicas", 1))
    if replicas not in {None, 1}:
        notes.add(
            f"{place}/replicas",
            f"{replicas} replicas of each instance cannot be converted and are left out; use total_count",
        )


def _error(place: str, code: Code, message: str) -> DescriptionError:
    return DescriptionError([Diagnostic(place, code, message)])
