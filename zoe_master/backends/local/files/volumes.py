"""Volumes and working directories without mounts: directories of this machine, named by environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.applications.paths import is_below
from zoe_master.backends.base import AttachedVolume, ServiceStart
from zoe_master.backends.local.files.directories import ComponentUser, is_safe_name
from zoe_master.backends.local.files.workspaces import tenant_volume
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.local.supervisor.spec import VolumeSpec
from zoe_master.backends.local.supervisor.volumes.backing import MOUNT
from zoe_master.backends.services.failures import CannotStartError


def variable_of(volume: Volume) -> str:
    """Return the variable that holds a volume's directory: ZOE_VOLUME_ and its name, or its target if it has no
    name.
    """
    text = volume.name or volume.target.strip("/") or "root"
    return "ZOE_VOLUME_" + re.sub(r"[^A-Za-z0-9]", "_", text).upper()


def volume_directories(start: ServiceStart, settings: LocalSettings, owner: ComponentUser | None) -> dict[Volume, Path]:
    """Return the directory of each volume, creating those of nodes; CannotStartError for a host path that is not
    allowed, or if a volume of blocks cannot be attached.

    Nothing is mounted at `target`, and `read_only` is not enforced beyond the permissions of the files.
    """
    if start.volumes.refusal:
        raise CannotStartError(start.volumes.refusal)
    return {volume: _directory_of(volume, start, settings, owner) for volume in start.component.volumes}


def _directory_of(volume: Volume, start: ServiceStart, settings: LocalSettings, owner: ComponentUser | None) -> Path:
    if volume.name is not None and (attached := start.volumes.values.get(volume.name)) is not None:
        return block_volume(settings, attached.id) / MOUNT
    if volume.name is not None:
        return tenant_volume(settings.volumes_dir, start.tenant, volume.name, owner)
    if volume.host_path is None:
        raise CannotStartError(f"the volume at {volume.target} has neither a name nor a host path")
    return allowed_host_path(volume.host_path, settings.host_paths_allowed)


def block_volume(settings: LocalSettings, volume: str) -> Path:
    """Return the directory of a volume of blocks."""
    if not is_safe_name(volume):
        raise CannotStartError(f"{volume!r} is not a valid id of a volume")
    return settings.blocks_dir / volume


def volume_specs(start: ServiceStart, settings: LocalSettings, owner: ComponentUser | None) -> list[VolumeSpec]:
    """Return the volumes of blocks for the supervisor."""
    user = [owner.uid, owner.gid] if owner is not None else None
    return [
        {
            "name": name,
            "directory": str(block_volume(settings, volume.id)),
            "epoch": volume.epoch,
            "filters": list(volume.filters),
            "key_file": str(key_file(settings, start.service_id, volume)),
            "user": user,
        }
        for name, volume in start.volumes.values.items()
    ]


def write_keys(start: ServiceStart, settings: LocalSettings) -> None:
    """Write the keys of the volumes for the supervisor, which removes them."""
    for volume in start.volumes.values.values():
        path = key_file(settings, start.service_id, volume)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(volume.key)


def key_file(settings: LocalSettings, service: str, volume: AttachedVolume) -> Path:
    """Return the file of a volume's key in the directory of a service, which only root can enter."""
    return settings.state_dir / "services" / service / f"volume-{volume.id}.key"


def allowed_host_path(host_path: str, allowed: Iterable[Path]) -> Path:
    """Return the real path, with links resolved, if it lies at or below an allowed one, both as written and resolved.

    CannotStartError otherwise. The path as written is checked too, so that it can be refused before a service starts.
    """
    bases = allowed_bases(allowed)
    real = Path(os.path.realpath(host_path))
    if not is_below(host_path, bases) or not is_below(str(real), bases):
        raise CannotStartError(f"host path {host_path} is not on the admin's list of allowed host paths")
    if not real.exists():
        raise CannotStartError(f"host path {host_path} does not exist on this machine")
    return real


def allowed_bases(allowed: Iterable[Path]) -> tuple[str, ...]:
    """Return the admin's directories as written, and with links resolved."""
    return tuple(sorted({path for base in allowed for path in (str(base), os.path.realpath(base))}))


def working_directory(
    working_dir: str | None, scratch: Path, workspace: Path, shared: Path, volumes: Mapping[Volume, Path]
) -> tuple[Path, bool]:
    """Return where the component starts, and whether its user may create that directory.

    None is the scratch directory; a relative path is below the workspace; a path at or below a volume's target is that
    place in the volume; any other must be below scratch, workspace or `shared`, or exist on this machine.
    """
    if working_dir is None:
        return scratch, False
    if not working_dir.startswith("/"):
        return _below(workspace, working_dir, working_dir), True
    for volume, directory in volumes.items():
        if PurePosixPath(working_dir).is_relative_to(volume.target):
            inner = str(PurePosixPath(working_dir).relative_to(volume.target))
            return _below(directory, inner, working_dir), True
    normal = Path(os.path.normpath(working_dir))
    if any(normal.is_relative_to(base) for base in (scratch, workspace, shared, *volumes.values())):
        return normal, True
    if normal.is_dir():
        return normal, False
    problem = "is not a directory" if normal.exists() else "does not exist"
    raise CannotStartError(
        f"working directory {working_dir} {problem} on this machine; "
        "use {workspace}, {shared}, {scratch}, a path relative to the workspace, or a volume's target"
    )


def _below(base: Path, relative: str, wanted: str) -> Path:
    path = Path(os.path.normpath(base / relative))
    if not path.is_relative_to(base):
        raise CannotStartError(f"working directory {wanted} is outside {base}")
    return path
