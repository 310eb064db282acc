"""Which directories of a node may be mounted, and the proof that no tenant can replace one of them.

An engine follows symbolic links when it mounts, some time after any check. So checking links alone is not enough: a
user with write access to a directory on the way could create a link in between. A path is mounted only if each of its
parts is no link, and only root may change the directories that contain these parts.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from zoe_lib.domain.applications.application import Volume
from zoe_lib.domain.applications.paths import is_below, plain_path
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.template_values import SHARED_WORKSPACE, WORKSPACE
from zoe_master.backends.engine.spec.users import UserOfTenant, user_of
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.workspaces.layout import HOLDER_MODE, OWN_MODE, SHARED, SHARED_MODE, directory_of

_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH  # an access list that lets others write is visible here, too


@dataclass(frozen=True, slots=True)
class WorkspaceOwner:
    """Owner, group and mode that a directory of workspaces must have: otherwise its files belong to other users."""

    uid: int
    gid: int
    mode: int


@dataclass(frozen=True, slots=True)
class HostPath:
    """A path at or below `root`, the outermost allowed directory of the admin; without `..` and double slashes.

    `owned`: it is the workspace of a user or of a tenant's users, below the tenant's directory, which Zoe makes.
    """

    root: str
    path: str
    owned: WorkspaceOwner | None = None

    @property
    def holder(self) -> str:
        """Return the directory that contains it."""
        return posixpath.dirname(self.path)

    def parts(self, root: str) -> list[str]:
        """Return each part of the path from the root on, with the root named `root`."""
        found = [root]
        for name in PurePosixPath(self.path).relative_to(self.root).parts:
            found.append(posixpath.join(found[-1], name))
        return found


@dataclass(frozen=True, slots=True)
class PathPart:
    """A node's report on one part: the mode with its type, the owner, and the group."""

    mode: int
    owner: int
    group: int = 0


def host_paths_of(start: ServiceStart, settings: EngineSettings) -> tuple[HostPath, ...]:
    """Return the component's mounts of its node's file systems; CannotStartError if the admin does not allow one."""
    volumes = [volume for volume in start.component.volumes if volume.name is None]
    return (*workspaces_of(start, settings).values(), *(host_path_of(volume, settings) for volume in volumes))


def workspaces_of(owner: UserOfTenant, settings: EngineSettings) -> dict[str, HostPath]:
    """Return the user's own workspace and the shared one by their targets; one for both if all users are the same."""
    if settings.workspaces_dir is None:
        return {}
    holder = posixpath.join(plain_path(str(settings.workspaces_dir)), _plain_name(owner.tenant))
    root, user = _outermost(holder, settings), user_of(owner, settings)
    if user.of_all:
        return {WORKSPACE: HostPath(root, holder)}
    uid, gid = int(user.uid), int(user.gid)
    own, shared = posixpath.join(holder, directory_of(_plain_name(owner.user))), posixpath.join(holder, SHARED)
    return {
        WORKSPACE: HostPath(root, own, WorkspaceOwner(uid, gid, OWN_MODE)),
        SHARED_WORKSPACE: HostPath(root, shared, WorkspaceOwner(0, gid, SHARED_MODE)),
    }


def _plain_name(name: str) -> str:
    if PurePosixPath(name).name != name or name.startswith("."):
        raise CannotStartError(f"{name!r} is not a valid name of a workspace")
    return name


def host_path_of(volume: Volume, settings: EngineSettings) -> HostPath:
    """Return the mount of a volume without a name."""
    if volume.host_path is None:
        raise CannotStartError(f"the volume at {volume.target} has neither a name nor a host path")
    path = plain_path(volume.host_path)
    if not is_below(path, map(str, settings.host_paths_allowed)):
        raise CannotStartError(f"host path {volume.host_path} is not on the admin's list of allowed host paths")
    return HostPath(_outermost(path, settings), path)


def problem(path: HostPath, seen: Sequence[PathPart], settings: EngineSettings) -> str:
    """Return why the path must not be mounted, as text; empty if it is allowed. `seen`: its existing parts."""
    names = path.parts(path.root)
    if _run_as_root(settings):
        return "Zoe is configured to run components as root, who could replace it with a link"
    for name, part in zip(names, seen, strict=False):
        if stat.S_ISLNK(part.mode):
            return f"{name} is a symbolic link; use the directory to which it points"
        if name == names[-1]:
            return _not_owned(path, part)
        if obstacle := _not_roots(path, name, part):
            return obstacle
    missing = f"{names[len(seen)]} does not exist"
    return missing if path.owned is None or len(seen) < len(names) - 2 else f"{missing}; {_by_hand(path, path.owned)}"


def may_be_made(path: HostPath, seen: Sequence[PathPart]) -> bool:
    """Return whether it is a workspace, and only root may change the directory of all tenants."""
    above = HostPath(path.root, path.holder).parts(path.root)[:-1]
    return path.owned is not None and len(seen) >= len(above) and all(map(_only_roots, seen[: len(above)]))


def _not_roots(path: HostPath, name: str, part: PathPart) -> str:
    if not stat.S_ISDIR(part.mode):
        return f"{name} is not a directory"
    if part.owner != 0 and path.owned is not None and name == path.holder:
        return f"{name} belongs to user {part.owner}, not to root: move its contents to {name}/{SHARED}"
    if not _only_roots(part):
        return f"users other than root may change {name}, so a link could lead elsewhere (chown root, chmod go-w)"
    return ""


def _only_roots(part: PathPart) -> bool:
    return stat.S_ISDIR(part.mode) and part.owner == 0 and not part.mode & _WRITTEN_BY_OTHERS


def _not_owned(path: HostPath, part: PathPart) -> str:
    wanted = path.owned
    if wanted is None:
        return ""
    if not stat.S_ISDIR(part.mode):
        return f"{path.path} is not a directory"
    # A user may have changed the mode; the group matters where root is the owner.
    if part.owner != wanted.uid or (wanted.uid == 0 and part.group != wanted.gid):
        return f"{path.path} belongs to {part.owner}:{part.group}, not to {wanted.uid}:{wanted.gid}"
    return ""


def _by_hand(path: HostPath, wanted: WorkspaceOwner) -> str:
    """Return the admin's steps where Zoe cannot make it, such as on NFS with root_squash."""
    return (
        f"Zoe may not make it. On the file server: install -d -m {HOLDER_MODE:o} {path.holder} && "
        f"install -d -o {wanted.uid} -g {wanted.gid} -m {wanted.mode:o} {path.path}"
    )


def _outermost(path: str, settings: EngineSettings) -> str:
    """Return the outermost of the admin's directories that contain the path.

    This applies to named paths, too: a user with write access around one could replace it.
    """
    named = [str(base) for base in (*settings.host_paths_allowed, settings.workspaces_dir) if base is not None]
    around = (base for base in map(plain_path, named) if PurePosixPath(path).is_relative_to(base))
    return min(around, key=len)


def _run_as_root(settings: EngineSettings) -> bool:
    users = [user.partition(":")[0] for user in (settings.user, *settings.tenant_users.values()) if user]
    return any(user == "root" or user.strip("0") == "" for user in users)
