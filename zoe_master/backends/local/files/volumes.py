"""Volumes and working directories without mounts: directories of this machine, named by environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.applications.paths import is_below
from zoe_master.backends.local.files.directories import ComponentUser
from zoe_master.backends.local.files.workspaces import tenant_volume
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.services.failures import CannotStartError


def variable_of(volume: Volume) -> str:
    """Return the variable that holds a volume's directory: ZOE_VOLUME_ and its name, or its target if it has no
    name.
    """
    text = volume.name or volume.target.strip("/") or "root"
    return "ZOE_VOLUME_" + re.sub(r"[^A-Za-z0-9]", "_", text).upper()


def volume_directories(
    volumes: Iterable[Volume], tenant: str, settings: LocalSettings, owner: ComponentUser | None
) -> dict[Volume, Path]:
    """Return the directory of each volume, creating named ones; CannotStartError for a host path that is not allowed.

    Nothing is mounted at `target`, and `read_only` is not enforced beyond the permissions of the files.
    """
    return {volume: _directory_of(volume, tenant, settings, owner) for volume in volumes}


def _directory_of(volume: Volume, tenant: str, settings: LocalSettings, owner: ComponentUser | None) -> Path:
    if volume.name is not None:
        return tenant_volume(settings.volumes_dir, tenant, volume.name, owner)
    if volume.host_path is None:
        raise CannotStartError(f"the volume at {volume.target} has neither a name nor a host path")
    return allowed_host_path(volume.host_path, settings.host_paths_allowed)


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
