"""Turn a group of ServiceStarts into the Swarm service that runs them, in the terms of the Engine's API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import ServiceStart, is_program
from zoe_master.backends.engine.spec.environments import comes_first, command_of_image, entry_command
from zoe_master.backends.engine.spec.log_driver import log_driver
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.names import group_name
from zoe_master.backends.engine.spec.rendering import RenderedService, container_labels, needs_secret, service_labels
from zoe_master.backends.engine.spec.template_values import (
    CONFIGURATION,
    ENVIRONMENT_FILE,
    FILES,
    SECRET_FILE,
    SECRETS,
    SIGN_IN_FILE,
    SOURCE_SECRETS,
)
from zoe_master.backends.engine.spec.users import user_of
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.targets import targets_of
from zoe_master.backends.swarm.spec.task_templates import by_slot, literal

Json = dict[str, Any]
_NANO = 10**9


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """The node of a group, and the attempt's network and secret if it has them (id, name).

    `configuration`: the secrets (id, name) with the files of `ServiceStart.storage`, by file name. `sign_in`: the
    secret with `ServiceStart.secret`. `files`: the secrets with the component's files, by name. `secrets`: those that
    the component requests, by file name. environment: the secret with the program that runs first, for components with
    sources or requirements. image_command: entry point and arguments of the image, for the same. sources: the secrets
    with the credentials of the sources, by their numbers. `cores_milli`: all cores of the node; its engine refuses a
    higher limit.
    """

    node_id: str
    network_id: str | None = None
    secret: tuple[str, str] | None = None
    configuration: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    sign_in: tuple[str, str] | None = None
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    secrets: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cores_milli: int | None = None
    environment: tuple[str, str] | None = None
    image_command: tuple[Sequence[str], Sequence[str]] = ((), ())
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def needs_network(start: ServiceStart) -> bool:
    """Return whether its services get an overlay network: without one they share the engine's bridge with other
    containers.

    Services get one, except those that need devices and have no peers. When a node joins a network, Swarm checks its
    tasks again and rejects those with generic resources (seen with Docker Engine 20.10).
    """
    return needs_secret(start) or not start.component.reservation.devices


def group_labels(group: Sequence[RenderedService], settings: SwarmSettings) -> dict[str, str]:
    """Return all labels that a new back-end needs to adopt the group, and people to find it."""
    start = group[0].start
    return {
        **service_labels(group, settings),
        labels.PROXIED: " ".join(port.name for port in start.component.ports if port.proxied),
        labels.TARGETS: " ".join(targets_of(start)),
    }


def service_spec(group: Sequence[RenderedService], around: AttemptContext, settings: SwarmSettings) -> Json:
    """Return the arguments of the call that creates the Swarm service. Tasks never restart: the master decides."""
    start = group[0].start
    component = start.component
    task: Json = {
        "ContainerSpec": _container(group, around, settings),
        "Resources": _resources(component, around, settings),
        "RestartPolicy": {"Condition": "none", "MaxAttempts": 0},
        "Placement": {"Constraints": [f"node.id=={around.node_id}"]},
        "LogDriver": log_driver(settings.output_bytes_max),
    }
    if around.network_id is not None:
        task["Networks"] = [{"Target": around.network_id}]
    return {
        "task_template": task,
        "name": group_name(settings.installation, component.name, [service.start.service_id for service in group]),
        "labels": group_labels(group, settings),
        "mode": {"Replicated": {"Replicas": len(group)}},
        "endpoint_spec": _endpoint(component, settings),
    }


def _container(group: Sequence[RenderedService], around: AttemptContext, settings: SwarmSettings) -> Json:
    first = group[0]
    start, component = first.start, first.start.component
    user = user_of(start, settings)
    spec: Json = {
        "Image": full_name(component.image),
        **_command(first, around, settings),
        "Hostname": by_slot([service.host for service in group]),
        "Env": [
            f"{name}={by_slot([dict(service.environment).get(name, '') for service in group])}"
            for name, _ in first.environment
        ],
        "Labels": container_labels(group, settings),
        "User": str(user),
        "Mounts": [_escaped(mount) for mount in first.mounts],
        "StopGracePeriod": round(component.stop_grace_s * _NANO),
        "Init": True,
        "ReadOnly": component.read_only_root,
        "CapabilityDrop": ["ALL"],
    }
    if first.work_dir is not None:
        spec["Dir"] = first.work_dir
    files = {f"{CONFIGURATION}/{name}": secret for name, secret in around.configuration.items()}
    files |= {f"{FILES}/{name}": secret for name, secret in around.files.items()}
    files |= {f"{SECRETS}/{name}": secret for name, secret in around.secrets.items()}
    files |= {f"{SOURCE_SECRETS}/{number}": secret for number, secret in around.sources.items()}
    if around.environment is not None:
        files[ENVIRONMENT_FILE] = around.environment
    if around.secret is not None:
        files[SECRET_FILE] = around.secret
    if around.sign_in is not None:
        files[SIGN_IN_FILE] = around.sign_in
    if files:
        owner = {"UID": user.uid, "GID": user.gid}
        programs = {f"{FILES}/{name}" for name, text in component.files if is_program(text)}
        spec["Secrets"] = [
            {
                "SecretID": secret_id,
                "SecretName": secret_name,
                "File": {"Name": file, **owner, "Mode": 0o500 if file in programs else 0o400},
            }
            for file, (secret_id, secret_name) in sorted(files.items())
        ]
    return spec


def _escaped(mount: Json) -> Json:
    """Return the mount without Swarm's templates in the texts of users."""
    return mount | {key: literal(mount[key]) for key in ("Source", "Target") if key in mount}


def _command(first: RenderedService, around: AttemptContext, settings: SwarmSettings) -> Json:
    """Return the arguments for the image's entry point; with sources or requirements, the first program before both."""
    component = first.start.component
    if not comes_first(component):
        return {"Args": list(first.arguments) or None}
    words = command_of_image(component, first.arguments, around.image_command)
    return {"Command": entry_command(first.start, settings), "Args": words}


def _resources(component: Component, around: AttemptContext, settings: SwarmSettings) -> Json:
    reserved = component.reservation
    memory_bytes = component.memory_limit_bytes or reserved.memory_bytes
    cores_milli = component.cores_limit_milli or 0
    if around.cores_milli is not None:
        cores_milli = min(cores_milli, around.cores_milli)
    return {
        "Limits": {
            # Zero means no limit: unreserved cores may be used.
            "NanoCPUs": cores_milli * 10**6,
            "MemoryBytes": memory_bytes,
            "Pids": settings.processes_max,
        },
        "Reservations": {
            "NanoCPUs": reserved.cores_milli * 10**6,
            "MemoryBytes": reserved.memory_bytes,
            "GenericResources": [
                {"DiscreteResourceSpec": {"Kind": kind, "Value": amount}} for kind, amount in reserved.devices.items()
            ],
        },
    }


def _endpoint(component: Component, settings: SwarmSettings) -> Json:
    """Return an endpoint mode that resolves names to the tasks' own addresses, without virtual IPs in the kernel."""
    spec: Json = {"Mode": "dnsrr"}
    if settings.publish_ports:
        spec["Ports"] = [
            {"Protocol": "tcp", "TargetPort": port.number, "PublishMode": "host"}
            for port in component.ports
            if not (port.proxied and settings.gateway_image)
        ]
    return spec
