"""Convert the model of a document to the domain's Application."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from decimal import Decimal

from zoe_lib.descriptions import model
from zoe_lib.domain.applications.application import (
    DEFAULT_RETRY,
    Application,
    ApplicationKind,
    Component,
    ComponentSecret,
    ComponentSource,
    Port,
    PortProtocol,
    PortSignIn,
    Probe,
    ProbeKind,
    RetryRule,
    Volume,
)
from zoe_lib.domain.applications.sources import default_directory
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.progress import ProgressProbe
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.scaling import ScalingRule
from zoe_lib.domain.values.storage import Bandwidth, CsvInput, Guarantee, Pushdown, StorageDemand, StorageObject


def application_of(document: model.Document) -> Application:
    """Return the Application of a checked, expanded document; environments and labels are sorted, since their order has
    no meaning.
    """
    return Application(
        name=document.name,
        components=tuple(_component(component) for component in document.components),
        kind=ApplicationKind(document.kind),
        description=document.description,
        expected_run_s=document.size.run_time_s if document.size else None,
        time_limit_s=document.time_limit_s,
        retries=document.retries,
        retry=_retry(document.retry),
        notify=tuple(sorted(set(document.notify))),
        default_priority=document.priority,
        default_deadline_s=document.deadline_s,
        default_deadline=document.deadline,
        promise=_promise(document.promise),
        results=tuple(document.results),
        storage=_storage(document.storage) if document.storage and document.storage != model.Storage() else None,
    )


def _promise(wish: model.PromiseWish | None) -> PromiseWish | None:
    if wish is None:
        return None
    return PromiseWish(wish.confidence, None if wish.budget is None else f"{Decimal(str(wish.budget)):f}")


def _retry(rule: model.RetryRule | None) -> RetryRule:
    if rule is None:
        return DEFAULT_RETRY
    return RetryRule(rule.pause_s, rule.pause_max_s, tuple(sorted(set(rule.exit_codes))), rule.memory_factor)


def _component(component: model.Component) -> Component:
    resources = component.resources
    return Component(
        name=component.name,
        image=component.image,
        reservation=_reservation(resources),
        command=tuple(component.command),
        work_dir=component.work_dir,
        environment=_pairs(component.environment),
        secrets=tuple(_secret(secret) for secret in component.secrets),
        volumes=tuple(Volume(v.target, v.name, v.host_path, v.read_only) for v in component.volumes),
        cores_limit_milli=None if resources.limits.cores is None else _milli(resources.limits.cores),
        memory_limit_bytes=resources.limits.memory,
        shm_bytes=resources.shm,
        essential_count=component.essential_count,
        total_count=component.total_count,
        preferred_count=None if component.preferred_count == component.total_count else component.preferred_count,
        startup_order=component.startup_order,
        labels=_pairs(component.labels),
        ports=tuple(_port(port) for port in component.ports),
        readiness=_probe(component.readiness) if component.readiness else None,
        scaling=_scaling(component) if component.scaling else None,
        progress=ProgressProbe(**component.progress.model_dump()) if component.progress else None,
        ends_application=component.ends_application,
        read_only_root=component.read_only_root,
        stop_grace_s=component.stop_grace_s,
        files=tuple((name, sys.intern(text)) for name, text in _pairs(component.files)),  # jobs share programs
        requirements=tuple(sorted(component.requirements)),
        build_requirements=component.build_requirements,
        sources=tuple(_source(source) for source in component.sources),
        api=component.api or "",
    )


def _source(source: model.Source) -> ComponentSource:
    return ComponentSource(
        source.git, source.ref or "", source.into or default_directory(source.git), source.secret or ""
    )


def _secret(secret: model.Secret) -> ComponentSecret:
    if secret.variable is not None:
        return ComponentSecret(secret.name, variable=secret.variable)
    return ComponentSecret(secret.name, secret.file or secret.name)


def _port(port: model.Port) -> Port:
    sign_in = PortSignIn(port.sign_in.header, port.sign_in.scheme) if port.sign_in else None
    return Port(port.name, port.number, PortProtocol(port.protocol), port.path, port.proxied, sign_in)


def _reservation(resources: model.Resources) -> Resources:
    if not resources.devices:
        return Resources(_milli(resources.cores), resources.memory)
    return Resources(_milli(resources.cores), resources.memory, dict(sorted(resources.devices.items())))


def _milli(cores: float) -> int:
    """Return thousandths of a core, at least one, since a reservation of zero would not be counted."""
    return max(round(cores * 1000), 1) if cores > 0 else 0


def _pairs(mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(mapping.items()))


def _scaling(component: model.Component) -> ScalingRule | None:
    found = component.scaling
    if found is None:
        return None
    given = found.model_dump()
    return ScalingRule(**{**given, "minimum": found.minimum or max(component.essential_count, 1)})


def _probe(readiness: model.Readiness) -> Probe:
    kind, port = (ProbeKind.TCP, readiness.tcp) if readiness.tcp else (ProbeKind.HTTP, readiness.http)
    return Probe(kind, port or "", readiness.path, readiness.interval_s, readiness.timeout_s)


def _storage(storage: model.Storage) -> StorageDemand:
    wanted = storage.bandwidth
    return StorageDemand(
        inputs=tuple(StorageObject(i.name, i.uri, _pushdown(i.pushdown), _csv(i.csv)) for i in storage.inputs),
        outputs=tuple(StorageObject(o.name, o.uri) for o in storage.outputs),
        bandwidth=Bandwidth(wanted.read, wanted.write, Guarantee(wanted.guarantee)) if wanted else None,
    )


def _pushdown(pushdown: model.Pushdown | None) -> Pushdown | None:
    if pushdown is None:
        return None
    types = tuple((column.name, column.type) for column in pushdown.columns if column.type is not None)
    return Pushdown(tuple(column.name for column in pushdown.columns if column.read), pushdown.where, types)


def _csv(csv: model.Csv | None) -> CsvInput | None:
    """Return None for an empty section."""
    if csv is None or csv == model.Csv():
        return None
    return CsvInput(csv.delimiter, csv.quote, csv.escape, csv.header, tuple(csv.names), csv.null_text, csv.multi_line)
