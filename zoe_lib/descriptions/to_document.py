"""Convert the domain's Application to its canonical document, which the store keeps and `parse` reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from zoe_lib.domain.applications.application import (
    DEFAULT_RETRY,
    Application,
    Component,
    ComponentSecret,
    ComponentSource,
    Port,
    Probe,
    ProbeKind,
    RetryRule,
    Volume,
)
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.storage import CsvInput, StorageDemand, StorageObject

_Json = dict[str, Any]


def to_document(application: Application) -> _Json:
    """Return the canonical version-4 document, without frameworks and defaults; `parse` returns an equal
    Application.
    """
    document: _Json = {
        "version": 4,
        "name": application.name,
        "kind": str(application.kind),
        "description": application.description,
        "size": None if application.expected_run_s is None else {"run_time_s": application.expected_run_s},
        "time_limit_s": application.time_limit_s,
        "retries": application.retries,
        "retry": _retry(application.retry),
        "notify": [str(kind) for kind in application.notify],
        "priority": application.default_priority,
        "deadline_s": application.default_deadline_s,
        "deadline": application.default_deadline,
        "promise": _promise(application.promise),
        "components": [_component(component) for component in application.components],
        "results": list(application.results),
        "storage": _storage(application.storage) if application.storage else None,
    }
    return _without_defaults(document, {"description": "", "retries": 0, "priority": 0})


def _promise(wish: PromiseWish | None) -> _Json | None:
    if wish is None:
        return None
    budget = {} if wish.budget is None else {"budget": float(wish.budget)}
    return {"confidence": wish.confidence, **budget}


def _retry(rule: RetryRule) -> _Json | None:
    if rule == DEFAULT_RETRY:
        return None
    document = {**asdict(rule), "exit_codes": list(rule.exit_codes)}
    return {key: value for key, value in document.items() if value not in (None, [])}


def _component(component: Component) -> _Json:
    document: _Json = {
        "name": component.name,
        "image": component.image,
        "command": list(component.command),
        "work_dir": component.work_dir,
        "environment": dict(component.environment),
        "secrets": [_secret(secret) for secret in component.secrets],
        "volumes": [_volume(volume) for volume in component.volumes],
        "resources": _resources(component),
        "essential_count": component.essential_count,
        "preferred_count": component.preferred_count,
        "total_count": component.total_count,
        "startup_order": component.startup_order,
        "labels": dict(component.labels),
        "ports": [_port(port) for port in component.ports],
        "readiness": _readiness(component.readiness) if component.readiness else None,
        "scaling": _without_defaults(asdict(component.scaling), _SCALING) if component.scaling else None,
        "progress": _without_defaults(asdict(component.progress), {"path": "/"}) if component.progress else None,
        "ends_application": component.ends_application,
        "read_only_root": component.read_only_root,
        "stop_grace_s": component.stop_grace_s,
        "files": dict(component.files),
        "requirements": list(component.requirements),
        "build_requirements": component.build_requirements,
        "sources": [_source(source) for source in component.sources],
        "api": component.api or None,
    }
    absent = {"startup_order": 0, "ends_application": False, "read_only_root": False, "stop_grace_s": 10.0}
    return _without_defaults(document, {**absent, "build_requirements": False})


def _resources(component: Component) -> _Json:
    limits = {"memory": component.memory_limit_bytes, "cores": _cores(component.cores_limit_milli)}
    return _without_defaults(
        {
            "memory": component.reservation.memory_bytes,
            "cores": _cores(component.reservation.cores_milli),
            "limits": _without_defaults(limits, {}),
            "shm": component.shm_bytes,
            "devices": dict(component.reservation.devices),
        },
        {},
    )


def _cores(milli: int | None) -> float | int | None:
    if milli is None:
        return None
    return milli / 1000 if milli % 1000 else milli // 1000


def _volume(volume: Volume) -> _Json:
    document = {"name": volume.name, "host_path": volume.host_path, "target": volume.target}
    return _without_defaults({**document, "read_only": volume.read_only}, {"read_only": False})


def _secret(secret: ComponentSecret) -> _Json:
    return _without_defaults(
        {"name": secret.name, "file": secret.file or None, "variable": secret.variable or None}, {"file": secret.name}
    )


def _source(source: ComponentSource) -> _Json:
    optional = {"ref": source.ref or None, "into": source.into, "secret": source.secret or None}
    return _without_defaults({"git": source.url, **optional}, {})


def _port(port: Port) -> _Json:
    document: _Json = {"name": port.name, "number": port.number, "protocol": str(port.protocol)}
    if port.sign_in is not None:
        document["sign_in"] = {"header": port.sign_in.header, "scheme": port.sign_in.scheme}
    return _without_defaults({**document, "path": port.path, "proxied": port.proxied}, {"path": "/", "proxied": False})


_SCALING = {"path": "/", "per_instance": 1.0, "interval_s": 15.0, "calm_s": 120.0}


def _readiness(probe: Probe) -> _Json:
    document: _Json = {str(probe.kind): probe.port, "interval_s": probe.interval_s, "timeout_s": probe.timeout_s}
    if probe.kind is ProbeKind.HTTP:
        document["path"] = probe.path
    return document


def _storage(storage: StorageDemand) -> _Json:
    document: _Json = {
        "inputs": [_storage_object(item) for item in storage.inputs],
        "outputs": [_storage_object(item) for item in storage.outputs],
    }
    if storage.bandwidth:
        wanted = storage.bandwidth
        rates = {"read": wanted.read_bytes_per_s, "write": wanted.write_bytes_per_s}
        document["bandwidth"] = _without_defaults({**rates, "guarantee": str(wanted.guarantee)}, {})
    return document


def _storage_object(item: StorageObject) -> _Json:
    document: _Json = {"name": item.name, "uri": item.uri}
    if item.pushdown:
        types = dict(item.pushdown.types)
        read = item.pushdown.columns
        columns: list[object] = [{"name": name, "type": types[name]} if name in types else name for name in read]
        compared = [{"name": n, "type": t, "read": False} for n, t in types.items() if n not in read]
        document["pushdown"] = _without_defaults({"columns": [*columns, *compared], "where": item.pushdown.where}, {})
    if item.csv:
        document["csv"] = _without_defaults({**asdict(item.csv), "names": list(item.csv.names)}, asdict(CsvInput()))
    return document


def _without_defaults(document: _Json, defaults: Mapping[str, object]) -> _Json:
    """Return the document without nulls, empty values and defaults; not for sections with a meaning when empty."""
    return {k: v for k, v in document.items() if v is not None and v not in ([], {}) and defaults.get(k, _NO) != v}


_NO = object()
