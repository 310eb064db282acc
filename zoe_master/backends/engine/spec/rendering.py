"""Fill in a ServiceStart: the texts, mounts and labels of its container."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.engine import engine_refusals
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ImageState, ServiceStart, joined_modules
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.engine_limits import DOCKER
from zoe_master.backends.engine.spec.images import image_allowed
from zoe_master.backends.engine.spec.mounts.host_paths import workspaces_of
from zoe_master.backends.engine.spec.mounts.mounts import mounts_of
from zoe_master.backends.engine.spec.mounts.work_dirs import StartPath, work_dir_of
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_labels
from zoe_master.backends.engine.spec.naming.names import host_name
from zoe_master.backends.engine.spec.template_values import CONFIGURATION, SCRATCH, SECRETS, WORKSPACE, TemplateFiller
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.services.secret_files import api_variables, secret_files

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RenderedService:
    """One service with every template filled."""

    start: ServiceStart
    host: str
    environment: tuple[tuple[str, str], ...]
    arguments: tuple[str, ...]
    work_dir: str | None
    mounts: tuple[Json, ...]
    made_dir: StartPath | None = None


def render(start: ServiceStart, settings: EngineSettings) -> RenderedService:
    """Return the service with every text filled; CannotStartError explains why that is impossible."""
    component = start.component
    status = image_allowed(component.image, settings.images)
    if status.state is ImageState.UNAVAILABLE:
        raise CannotStartError(f"{status.message.rstrip('.')}; {status.hint}", Cause.IMAGE_UNAVAILABLE, status.detail)
    for _, _, message, _ in engine_refusals(component, DOCKER):
        raise CannotStartError(message)
    if any(use.variable for use in component.secrets):
        raise CannotStartError(f"component {component.name} asks for a secret as a variable; use a file")
    secret_files(start)
    filled = TemplateFiller(start, workspaces_of(start, settings))
    work_dir = _work_dir(component, filled)
    made_dir = work_dir_of(start, work_dir, settings)
    return RenderedService(
        start=start,
        host=host_name(component.name, start.index),
        environment=tuple(_environment(start, filled).items()),
        arguments=tuple(filled(word) for word in component.command),
        work_dir=work_dir,
        mounts=tuple(mounts_of(start, settings, made_dir)),
        made_dir=made_dir,
    )


def needs_secret(start: ServiceStart) -> bool:
    """Return whether its services talk to each other, or have ports for other services."""
    return bool(start.component.ports) or len({peer.component for peer in start.peers}) > 1


def service_labels(group: Sequence[RenderedService], settings: EngineSettings) -> dict[str, str]:
    """Return all labels that a new back-end needs to adopt the services (`found_services`), and people to find them."""
    start = group[0].start
    component = start.component
    probe = component.readiness
    return {
        **container_labels(group, settings),
        labels.HOSTS: " ".join(service.host for service in group),
        labels.NODE: start.node,
        labels.GRACE: str(component.stop_grace_s),
        labels.PORTS: json.dumps({port.name: port.number for port in component.ports}),
        labels.PROBE: json.dumps([probe.kind, probe.port, probe.path, probe.interval_s, probe.timeout_s])
        if probe
        else "",
    }


def container_labels(group: Sequence[RenderedService], settings: EngineSettings) -> dict[str, str]:
    """Return the labels of each container; together with its slot they identify its service."""
    start = group[0].start
    return {
        labels.SERVICES: " ".join(service.start.service_id for service in group),
        **attempt_labels(Attempt(start.execution_id, start.attempt), start.tenant, settings.installation),
        labels.USER: start.user,
        labels.COMPONENT: start.component.name,
        labels.CORES: str(start.component.reservation.cores_milli),
        labels.CAUSE: start.cause_id,
        **({labels.PROMISED: "true"} if start.promised else {}),
        **({labels.SCRATCH: made_dir.source} if (made_dir := group[0].made_dir) is not None and made_dir.own else {}),
    }


def _environment(start: ServiceStart, filled: TemplateFiller) -> dict[str, str]:
    """Return the variables of the component, after those available to every component."""
    own = {name: filled(text) for name, text in start.component.environment}
    given = {"HOME": SCRATCH, "TMPDIR": SCRATCH, **start.storage.variables(f"/run/secrets/{CONFIGURATION}")}
    own_api = api_variables(start, f"/run/secrets/{SECRETS}")
    return {**joined_modules(given, own), "ZOE_EXECUTION_ID": start.execution_id, **own_api}


def _work_dir(component: Component, filled: TemplateFiller) -> str | None:
    """Return the working directory: the image's by default; a relative one is below the workspace."""
    if component.work_dir is None:
        return None
    wanted = filled(component.work_dir)
    return wanted if wanted.startswith("/") else f"{WORKSPACE}/{wanted}"
