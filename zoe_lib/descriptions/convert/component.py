"""Convert one old service to a version-4 component."""

from __future__ import annotations

from typing import Any

from zoe_client.documents.quantities import size_text
from zoe_lib.descriptions import bounds
from zoe_lib.descriptions.convert.addresses import Addresses
from zoe_lib.descriptions.convert.names import legal_image, legal_variable
from zoe_lib.descriptions.convert.notes import ConversionDefaults, Notes
from zoe_lib.descriptions.convert.old import OldService
from zoe_lib.descriptions.convert.parts import convert_labels, convert_ports, convert_volumes, split_command
from zoe_lib.descriptions.model import Component
from zoe_lib.descriptions.structure import read_model
from zoe_lib.domain.applications.templates import escape

_WORKSPACE = "/mnt/workspace"


def convert_component(
    service: OldService, name: str, version: int, addresses: Addresses, defaults: ConversionDefaults
) -> dict[str, Any]:
    """Return the component with this name, and add notes on parts that cannot be converted."""
    notes = addresses.notes
    image = legal_image(service.image)
    if image != service.image:
        notes.add(service.place, f"image {service.image[:64]!r} became {image[:64]!r}")
    component: dict[str, Any] = {
        "name": name,
        "image": image,
        "command": _command(service, name, version, addresses),
        "work_dir": _work_dir(service, notes),
        "environment": _environment(service, name, version, addresses),
        "volumes": convert_volumes(service.volumes, service.place, notes),
        "resources": _resources(service, notes, defaults),
        **_counts(service, notes),
        "labels": convert_labels(service.labels, service.constraints, service.place, notes),
        "ports": convert_ports(service.ports, service.place, notes),
    }
    return {key: value for key, value in component.items() if value not in (None, [], {})}


def _command(service: OldService, name: str, version: int, addresses: Addresses) -> list[str]:
    """Return the arguments of a command. It is split before placeholders are converted: a placeholder is one argument,
    whatever its value.
    """
    place = f"{service.place}/command"
    arguments = split_command(service.command, service.place, addresses.notes)
    if version >= 3:  # the first format without placeholders in commands
        arguments = [addresses.literal(argument) for argument in arguments]
    else:
        arguments = [addresses.translate(argument, place, name) for argument in arguments]
    if any(len(argument) > bounds.TEXT_LENGTH_MAX for argument in arguments):
        addresses.notes.add(place, "longer than an argument may be; left out")
        return []
    return arguments


def _environment(service: OldService, name: str, version: int, addresses: Addresses) -> dict[str, str]:
    place = f"{service.place}/environment"
    environment: dict[str, str] = {}
    for old, value in service.environment:
        variable = legal_variable(old)
        if variable != old:
            addresses.notes.add(place, f"variable {old[:64]!r} became {variable[:64]!r}")
        if variable in environment:
            addresses.notes.add(place, f"variable {variable[:64]!r} is set twice; the last value is used")
        translated = addresses.translate(value, place, name)
        if len(translated) > bounds.TEXT_LENGTH_MAX or len(variable) > bounds.PATH_LENGTH_MAX:
            addresses.notes.add(place, f"variable {variable[:64]!r} is too long; left out")
            continue
        environment[variable] = translated
    if version >= 2:  # these formats promise this variable to every service
        environment.setdefault("ZOE_WORKSPACE", "{workspace}")
    return environment


def _work_dir(service: OldService, notes: Notes) -> str | None:
    if service.work_dir is None:
        return None
    rest = service.work_dir
    in_workspace = rest == _WORKSPACE or rest.startswith(_WORKSPACE + "/")
    work_dir = "{workspace}" + escape(rest.removeprefix(_WORKSPACE)) if in_workspace else escape(rest)
    probe = {"name": "a", "image": "a", "resources": {"memory": bounds.GIB}, "work_dir": work_dir}
    if read_model(Component, probe)[0] is None:
        notes.add(f"{service.place}/work_dir", f"{rest[:64]!r} is not an absolute path; left out")
        return None
    return work_dir


def _counts(service: OldService, notes: Notes) -> dict[str, int]:
    total = min(max(service.total_count, 1), bounds.SERVICES_MAX)
    essential = min(max(service.essential_count, 0), total)
    if (essential, total) != (service.essential_count, service.total_count):
        was = f"{service.essential_count} of {service.total_count}"
        notes.add(service.place, f"essential_count {was} became {essential} of {total}")
    order = min(max(service.startup_order, -bounds.STARTUP_ORDER_MAX), bounds.STARTUP_ORDER_MAX)
    if order != service.startup_order:
        notes.add(f"{service.place}/startup_order", f"{service.startup_order} became {order}")
    return {"essential_count": essential, "total_count": total, "startup_order": order}


def _resources(service: OldService, notes: Notes, defaults: ConversionDefaults) -> dict[str, Any]:
    place = f"{service.place}/resources"
    if service.memory is None:
        notes.add(place, f"no memory given; the default of {size_text(defaults.memory_bytes)} is used")
    memory = _memory(defaults.memory_bytes if service.memory is None else service.memory, place, notes)
    if service.cores is None:
        notes.add(place, f"no cores given; the default of {defaults.cores:g} is used")
    cores = _cores(defaults.cores if service.cores is None else service.cores, place, notes)
    resources: dict[str, Any] = {"memory": memory, "cores": cores}
    limits: dict[str, Any] = {}
    if service.memory_limit is not None and _memory(service.memory_limit, place, notes) > memory:
        limits["memory"] = _memory(service.memory_limit, place, notes)
    if service.cores_limit is not None and _cores(service.cores_limit, place, notes) > cores:
        limits["cores"] = _cores(service.cores_limit, place, notes)
    if limits:
        resources["limits"] = limits
    if service.shm is not None:
        resources["shm"] = _memory(service.shm, place, notes)
    return resources


def _memory(amount: float, place: str, notes: Notes) -> int:
    found = min(max(int(amount), bounds.MEMORY_BYTES_MIN), bounds.MEMORY_BYTES_MAX)
    if found != int(amount):
        notes.add(place, f"{amount:g} bytes of memory became {size_text(found)}")
    return found


def _cores(amount: float, place: str, notes: Notes) -> float:
    found = min(max(amount, 0.001), float(bounds.CORES_MAX))
    if found != amount:
        notes.add(place, f"{amount:g} cores became {found:g}")
    return int(found) if float(found).is_integer() else found
