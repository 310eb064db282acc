"""The directories of this machine that containers mount, made and checked without a container."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from zoe_master.backends.base import ServiceStart
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.spec.mounts.host_paths import HostPath, PathPart, host_paths_of, problem
from zoe_master.backends.engine.spec.mounts.work_dirs import StartPath
from zoe_master.backends.local.files.directories import make_owned
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.local.files.workspaces import workspaces
from zoe_master.backends.services.failures import CannotStartError


def prepare_places(
    start: ServiceStart, work_dir: StartPath | None, users: ComponentUsers, settings: DockerSettings
) -> None:
    """Make the workspaces and the working directory of a service, and check its host paths. Raises CannotStartError."""
    owner = users.user_for(start.system_user)
    if settings.workspaces_dir is not None:
        workspaces(settings.workspaces_dir, start.tenant, start.user, owner)
    for path in host_paths_of(start, settings):
        if path.owned is None and (words := _obstacle(path, settings)):
            raise CannotStartError(f"host path {path.path} is not mounted: {words}")
    if work_dir is not None and work_dir.source.startswith("/") and work_dir.below:
        make_owned(Path(work_dir.source), PurePosixPath(work_dir.below).parts, owner)


def _obstacle(path: HostPath, settings: DockerSettings) -> str:
    """Return why a path must not be mounted; empty if it may be. The directories that the admin names are trusted."""
    if path.path == path.root:
        return "" if Path(path.path).exists() else f"{path.path} does not exist"
    return problem(path, list(_parts(path)), settings)


def _parts(path: HostPath) -> Iterator[PathPart]:
    for name in path.parts(path.root):
        try:
            found = os.lstat(name)
        except OSError:
            return
        yield PathPart(found.st_mode, found.st_uid, found.st_gid)
