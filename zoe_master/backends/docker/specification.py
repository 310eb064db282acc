"""Turn a service into its container, in the terms of the Engine's API."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.docker.secret_files import MOUNT
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.daemon.container_facts import cpu_shares
from zoe_master.backends.engine.daemon.image_facts import ImageCommand
from zoe_master.backends.engine.spec.environments import comes_first, command_of_image, entry_command
from zoe_master.backends.engine.spec.log_driver import log_driver
from zoe_master.backends.engine.spec.rendering import RenderedService, service_labels
from zoe_master.backends.engine.spec.users import ContainerUser, user_of

Json = dict[str, Any]
LOOPBACK = "127.0.0.1"
_ROOT_INSIDE = ContainerUser("0", "0", of_all=True)


@dataclass(frozen=True, slots=True)
class ContainerContext:
    """What a container gets from outside: its network, whether it has secret files, and all cores of the node.

    image_command: entry point and arguments of the image, for components with sources or requirements.
    """

    network: str
    has_files: bool
    cores_milli: int
    image_command: ImageCommand = ((), ())


def container_config(service: RenderedService, around: ContainerContext, settings: DockerSettings) -> Json:
    """Return the body of the call that creates it. Containers never restart: the master decides."""
    start, component = service.start, service.start.component
    config: Json = {
        "Image": full_name(component.image),
        **_command(service, around, settings),
        "Hostname": service.host,
        "Env": [f"{name}={value}" for name, value in service.environment],
        "Labels": service_labels([service], settings),
        "User": str(inner_user(start, settings)),
        "HostConfig": {
            **_resources(component, start.promised, around, settings),
            "Mounts": [*service.mounts, *([MOUNT] if around.has_files else [])],
            "NetworkMode": around.network,
            "Init": True,
            "ReadonlyRootfs": component.read_only_root,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "LogConfig": _log_config(settings.output_bytes_max),
            "RestartPolicy": {"Name": "no"},
        },
        "NetworkingConfig": {"EndpointsConfig": {around.network: {"Aliases": [service.host]}}},
    }
    if service.work_dir is not None:
        config["WorkingDir"] = service.work_dir
    if settings.rootless:
        ports = [f"{port.number}/tcp" for port in component.ports]
        config["ExposedPorts"] = {port: {} for port in ports}
        config["HostConfig"]["PortBindings"] = {port: [{"HostIp": LOOPBACK, "HostPort": ""}] for port in ports}
    return config


def inner_user(start: ServiceStart, settings: DockerSettings) -> ContainerUser:
    """Return the user inside a container. CannotStartError if the owner has no number."""
    return _ROOT_INSIDE if settings.rootless else user_of(start, settings)


def _command(service: RenderedService, around: ContainerContext, settings: DockerSettings) -> Json:
    """Return the arguments for the image's entry point; with sources or requirements, the first program before both."""
    component = service.start.component
    if not comes_first(component):
        return {"Cmd": list(service.arguments) or None}
    words = command_of_image(component, service.arguments, around.image_command)
    return {"Entrypoint": entry_command(service.start, settings), "Cmd": words}


def _resources(component: Component, promised: bool, around: ContainerContext, settings: DockerSettings) -> Json:
    memory_bytes = component.memory_limit_bytes or component.reservation.memory_bytes
    return {
        # Zero means no limit: unreserved cores may be used. The engine refuses more than the node has.
        "NanoCpus": min(component.cores_limit_milli or 0, around.cores_milli) * 10**6,
        "CpuShares": cpu_shares(component.reservation.cores_milli, promised),
        "Memory": memory_bytes,
        "MemorySwap": memory_bytes,
        "PidsLimit": settings.processes_max,
        "Ulimits": [{"Name": name, "Soft": most, "Hard": most} for name, most in _lower_limits(settings.ulimits_max)],
    }


def _lower_limits(wanted: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the limits below those of this machine's processes: engines can only lower theirs."""
    for name, most in wanted.items():
        present = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
        if present == resource.RLIM_INFINITY or most < present:
            yield name, most


def _log_config(bytes_max: int) -> Json:
    driver = log_driver(bytes_max)
    return {"Type": driver["Name"], "Config": driver["Options"]}
