"""The mounts of a container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.applications.paths import plain_path
from zoe_lib.domain.checks.volumes import mount_refusal
from zoe_lib.domain.cluster.platform import MountPath
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.environments import wheels_mounted
from zoe_master.backends.engine.spec.mounts.host_paths import host_path_of, workspaces_of
from zoe_master.backends.engine.spec.mounts.work_dirs import StartPath
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.names import volume_name
from zoe_master.backends.engine.spec.template_values import (
    CONFIGURATION,
    ENVIRONMENT_FILE,
    FILES,
    SCRATCH,
    SECRET_FILE,
    SECRETS,
    SHARED_WORKSPACE,
    SIGN_IN_FILE,
    SOURCE_SECRETS,
    WHEELS,
    WORKSPACE,
)
from zoe_master.backends.services.failures import CannotStartError

Json = dict[str, Any]
_INIT = "the init program that the engine puts into each container"
_FILE = "a file that the engine writes into each container"
_SECRET = "the files that Zoe writes for the services of an execution"  # noqa: S105 - what it is, not its content
_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/.dockerenv")
# Seen with Docker Engine 20.10 and 26.1.
_OF_ENGINES = (
    MountPath("/sbin", _INIT),
    MountPath("/sbin/docker-init", _INIT, below=True),
    *(MountPath(path, _FILE, only_named=True, below=True) for path in _FILES),
)
_OF_ZOE = (SECRET_FILE, SIGN_IN_FILE, CONFIGURATION, FILES, SECRETS, ENVIRONMENT_FILE, SOURCE_SECRETS)
_OURS = tuple(MountPath(f"/run/secrets/{name}", _SECRET, below=True) for name in _OF_ZOE)

# Otherwise an engine creates the start directory of a container before it copies the image's content, including the
# owner.
_AS_IT_IS = {"NoCopy": True}


def mount_points(settings: EngineSettings) -> tuple[MountPath, ...]:
    """Return the paths in use inside containers, where no volume can be mounted."""
    workspaces = [MountPath(WORKSPACE, "the workspace")] if settings.workspaces_dir is not None else []
    if workspaces and not settings.user:
        workspaces.append(MountPath(SHARED_WORKSPACE, "the tenant's shared workspace"))
    wheels = MountPath(WHEELS, "the site's wheels", below=True)
    scratch = MountPath(SCRATCH, "the scratch directory of a component with a read-only root", only_read_only=True)
    return (*_OF_ENGINES, *_OURS, *workspaces, wheels, scratch)


def mounts_of(start: ServiceStart, settings: EngineSettings, work_dir: StartPath | None = None) -> Iterator[Json]:
    """Yield the workspaces, the requested volumes, and replacements for a read-only root where a component must
    write.
    """
    component = start.component
    for target, workspace in workspaces_of(start, settings).items():
        yield _bind(workspace.path, target)
    if (wheels := wheels_mounted(component, settings)) is not None:
        yield _bind(wheels, WHEELS, read_only=True)
    for volume in component.volumes:
        if (refused := mount_refusal(component, volume, mount_points(settings))) is not None:
            raise CannotStartError("; ".join(refused))
        yield _volume(volume, start, settings, work_dir)
    if component.read_only_root:
        # Without a name, it is removed with the container; it starts as the image's directory, with mode and content.
        yield {"Type": "volume", "Target": SCRATCH}
    if work_dir is not None and work_dir.own:
        yield _of_service(work_dir, start, settings)
    if component.shm_bytes is not None:
        yield {"Type": "tmpfs", "Target": "/dev/shm", "TmpfsOptions": {"SizeBytes": component.shm_bytes}}  # noqa: S108


def scratch_labels(work_dir: StartPath, tenant: str, settings: EngineSettings) -> dict[str, str]:
    """Return the labels of a service's own volume."""
    return {**volume_labels(tenant, settings), labels.SCRATCH: work_dir.source}


def volume_labels(tenant: str, settings: EngineSettings) -> dict[str, str]:
    """Return the labels of a named volume."""
    return {labels.INSTALLATION: settings.installation, labels.TENANT: tenant}


def _volume(volume: Volume, start: ServiceStart, settings: EngineSettings, work_dir: StartPath | None) -> Json:
    if volume.name is not None:
        starts_there = work_dir is not None and work_dir.target == plain_path(volume.target)
        return {
            "Type": "volume",
            "Source": volume_name(settings.installation, start.tenant, volume.name),
            "Target": volume.target,
            "ReadOnly": volume.read_only,
            "VolumeOptions": {"Labels": volume_labels(start.tenant, settings)} | (_AS_IT_IS if starts_there else {}),
        }
    return _bind(host_path_of(volume, settings).path, volume.target, volume.read_only)


def _of_service(work_dir: StartPath, start: ServiceStart, settings: EngineSettings) -> Json:
    return {
        "Type": "volume",
        "Source": work_dir.source,
        "Target": work_dir.target,
        "VolumeOptions": {"Labels": scratch_labels(work_dir, start.tenant, settings), **_AS_IT_IS},
    }


def _bind(source: str, target: str, read_only: bool = False) -> Json:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": read_only}
