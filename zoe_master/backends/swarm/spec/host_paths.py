"""Which directories of a node may be mounted, and the proof that no tenant can replace one of them.

An engine follows symbolic links when it mounts, some time after any check. So checking links alone is not enough: a
user with write access to a directory on the way could create a link in between. A path is mounted only if each of its
parts is what it claims to be, and only root may change the directories that hold these parts.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from zoe_lib.domain.application import Volume
from zoe_lib.domain.paths import is_below, plain_path
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.failures import CannotStartError
from zoe_master.backends.swarm.settings import SwarmSettings

_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH  # an access list that lets others write shows up here, too


@dataclass(frozen=True, slots=True)
class HostPath:
    """A path at or below `root`, the outermost directory that the admin named; without `..` and double slashes."""

    root: str
    path: str

    def parts(self, root: str) -> list[str]:
        """Return each part of the way from the root to the path, as seen where the root is called `root`."""
        found = [root]
        for name in PurePosixPath(self.path).relative_to(self.root).parts:
            found.append(posixpath.join(found[-1], name))
        return found


@dataclass(frozen=True, slots=True)
class PathPart:
    """A node's report on one part: the mode with its type, and the owner."""

    mode: int
    owner: int


def host_paths_of(start: ServiceStart, settings: SwarmSettings) -> tuple[HostPath, ...]:
    """Return what the component mounts of its node's file systems; CannotStartError if the admin does not allow it."""
    volumes = [volume for volume in start.component.volumes if volume.name is None]
    return (*workspace_of(start, settings), *(host_path_of(volume, settings) for volume in volumes))


def workspace_of(start: ServiceStart, settings: SwarmSettings) -> Iterator[HostPath]:
    """Yield the tenant's directory, if there are workspaces."""
    if settings.workspaces_dir is None:
        return
    if PurePosixPath(start.tenant).name != start.tenant or start.tenant in (".", ".."):
        raise CannotStartError(f"{start.tenant!r} is not a valid name of a workspace")
    path = posixpath.join(plain_path(str(settings.workspaces_dir)), start.tenant)
    yield HostPath(_outermost(path, settings), path)


def host_path_of(volume: Volume, settings: SwarmSettings) -> HostPath:
    """Return what a volume without a name mounts."""
    if volume.host_path is None:
        raise CannotStartError(f"the volume at {volume.target} has neither a name nor a host path")
    path = plain_path(volume.host_path)
    if not is_below(path, map(str, settings.host_paths_allowed)):
        raise CannotStartError(f"host path {volume.host_path} is not on the admin's list of allowed host paths")
    return HostPath(_outermost(path, settings), path)


def problem(path: HostPath, seen: Sequence[PathPart], settings: SwarmSettings) -> str:
    """Return why the path must not be mounted, in words; empty if it may be. `seen`: its existing parts."""
    names = path.parts(path.root)
    if _run_as_root(settings):
        return "Zoe is configured to run components as root, who could replace it with a link"
    for name, part in zip(names, seen, strict=False):
        if stat.S_ISLNK(part.mode):
            return f"{name} is a symbolic link; use the directory to which it points"
        if name == names[-1]:
            return ""
        if not stat.S_ISDIR(part.mode):
            return f"{name} is not a directory"
        if part.owner != 0 or part.mode & _WRITTEN_BY_OTHERS:
            return f"users other than root may change {name}, so a link could lead elsewhere (chown root, chmod go-w)"
    return f"{names[len(seen)]} does not exist"


def _outermost(path: str, settings: SwarmSettings) -> str:
    """Return the outermost of the directories named by the admin that contain the path.

    This holds for named paths, too: a user with write access around one could replace it.
    """
    named = [str(base) for base in (*settings.host_paths_allowed, settings.workspaces_dir) if base is not None]
    around = (base for base in map(plain_path, named) if PurePosixPath(path).is_relative_to(base))
    return min(around, key=len)


def _run_as_root(settings: SwarmSettings) -> bool:
    users = (settings.user, *settings.tenant_users.values())
    return any(user.partition(":")[0] in ("", "root") or user.partition(":")[0].strip("0") == "" for user in users)
