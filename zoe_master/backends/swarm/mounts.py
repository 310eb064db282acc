"""What is mounted into a container."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from zoe_lib.domain.application import Volume
from zoe_master.backends.base import Start
from zoe_master.backends.failures import CannotStart
from zoe_master.backends.swarm import labels
from zoe_master.backends.swarm.filling import SCRATCH, WORKSPACE
from zoe_master.backends.swarm.names import volume_name
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.slots import literal

Json = dict[str, Any]


def mounts_of(start: Start, settings: SwarmSettings) -> Iterator[Json]:
    """The workspace, the volumes asked for, and what replaces a read-only root where a component must write."""
    component = start.component
    if settings.workspaces_dir is not None:
        if PurePosixPath(start.tenant).name != start.tenant or start.tenant in (".", ".."):
            raise CannotStart(f"{start.tenant!r} cannot be the name of a workspace")
        yield _bind(str(settings.workspaces_dir / start.tenant), WORKSPACE)
    for volume in component.volumes:
        yield _volume(volume, start, settings)
    if component.read_only_root:
        # Not named, so it goes with the container; it begins as the image's own directory, mode and all.
        yield {"Type": "volume", "Target": SCRATCH}
    if component.shm_bytes is not None:
        yield {"Type": "tmpfs", "Target": "/dev/shm", "TmpfsOptions": {"SizeBytes": component.shm_bytes}}  # noqa: S108


def _volume(volume: Volume, start: Start, settings: SwarmSettings) -> Json:
    if volume.name is not None:
        tags = {labels.INSTALLATION: settings.installation, labels.TENANT: start.tenant}
        return {
            "Type": "volume",
            "Source": volume_name(settings.installation, start.tenant, volume.name),
            "Target": literal(volume.target),
            "ReadOnly": volume.read_only,
            "VolumeOptions": {"Labels": tags},
        }
    if volume.host_path is None:
        raise CannotStart(f"the volume at {volume.target} has neither a name nor a host path")
    path = posixpath.normpath(volume.host_path)
    allowed = (str(base) for base in settings.host_paths_allowed)
    if not path.startswith("/") or not any(PurePosixPath(path).is_relative_to(base) for base in allowed):
        raise CannotStart(f"host path {volume.host_path} is not on the admin's list of allowed host paths")
    return _bind(path, volume.target, volume.read_only)


def _bind(source: str, target: str, read_only: bool = False) -> Json:
    return {"Type": "bind", "Source": literal(source), "Target": literal(target), "ReadOnly": read_only}
