"""Workspaces: `TENANT/USER` is a user's own, `TENANT/shared` belongs to all users of the tenant.

`TENANT` belongs to root, and all users may pass through it. Before version 0.3, `TENANT` itself was the workspace of
all users. Its content moves to `shared` once, when the next service of the tenant starts.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from zoe_master.backends.local.files.directories import ComponentUser, is_safe_name, make_owned
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.workspaces.layout import HOLDER_MODE, SHARED, SHARED_MODE, directory_of

_FOR_GROUP = stat.S_IRGRP | stat.S_IWGRP
_lock = threading.Lock()


def workspaces(base: Path, tenant: str, user: str, owner: ComponentUser | None) -> tuple[Path, Path]:
    """Return the user's workspace and the shared one, creating missing ones; CannotStartError."""
    with _lock:
        holder = _tenant_directory(base, tenant, owner, move=True)
        shared = holder / SHARED
        _share(shared, owner)
    own = make_owned(holder, (directory_of(user),), owner)
    found = own.stat().st_uid
    if owner is not None and found != owner.uid:
        raise CannotStartError(f"{own} belongs to user {found}, not to {owner.uid}: chown -R {owner.uid} {own}")
    return own, shared


def tenant_volume(base: Path, tenant: str, name: str, owner: ComponentUser | None) -> Path:
    """Return the directory of a tenant's volume, writable for all its users, creating it if it is missing."""
    if not is_safe_name(name):
        raise CannotStartError(f"{name!r} is not a valid name of a directory below {base}")
    with _lock:
        volume = _tenant_directory(base, tenant, owner, move=False) / name
        _share(volume, owner)
    return volume


def _tenant_directory(base: Path, tenant: str, owner: ComponentUser | None, *, move: bool) -> Path:
    """Return the directory for a tenant's workspaces; earlier content is moved below it, or stays in it."""
    if not is_safe_name(tenant):
        raise CannotStartError(f"{tenant!r} is not a valid name of a directory below {base}")
    holder, moving = base / tenant, base / f".{tenant}.moving"
    if holder.is_symlink():
        raise CannotStartError(f"{holder} is not a directory")
    try:
        if move and not _is_holder(holder) and holder.is_dir() and not moving.exists() and any(holder.iterdir()):
            holder.rename(moving)
        with suppress(FileExistsError):
            holder.mkdir(0o700)
        if not _is_holder(holder):
            _set_owner(holder, os.geteuid(), os.getegid(), HOLDER_MODE)
        if moving.exists():
            # It is given to the group before it gets its name: until then, a start begins here again.
            _give_to_group(moving, owner)
            moving.rename(holder / SHARED)
    except OSError as error:
        raise CannotStartError(
            f"cannot make {holder}: {error.strerror}; move its contents to {holder / SHARED} by hand"
        ) from error
    return holder


def _is_holder(path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), HOLDER_MODE)


def _share(path: Path, owner: ComponentUser | None) -> None:
    """Make a directory that the tenant's group may change."""
    try:
        with suppress(FileExistsError):
            path.mkdir(0o700)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise CannotStartError(f"{path} is not a directory")
        if owner is not None and (found.st_uid, found.st_gid) != (0, owner.gid):
            _give_to_group(path, owner)
    except OSError as error:
        raise CannotStartError(f"cannot make {path}: {error.strerror}") from error


def _give_to_group(path: Path, owner: ComponentUser | None) -> None:
    """Let the tenant's group read and change a tree. Its users may change it meanwhile, so no link is followed."""
    if owner is None:
        return
    former = path.lstat().st_uid
    for _, _, names, directory in os.fwalk(path, follow_symlinks=False):
        _open_to_group(directory, owner.gid, stat.S_ISGID | stat.S_IXGRP)
        for name in names:
            with suppress(OSError):  # a link, or a file that was removed
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
                try:
                    found = os.fstat(file)
                    # Files of other users may be here by a hard link.
                    if stat.S_ISREG(found.st_mode) and found.st_uid == former and found.st_nlink == 1:
                        _open_to_group(file, owner.gid, stat.S_IXGRP if found.st_mode & stat.S_IXUSR else 0)
                finally:
                    os.close(file)
    _set_owner(path, 0, owner.gid, SHARED_MODE)


def _open_to_group(descriptor: int, gid: int, more: int) -> None:
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o777
    os.fchown(descriptor, -1, gid)
    os.fchmod(descriptor, mode | _FOR_GROUP | more)


def _set_owner(path: Path, uid: int, gid: int, mode: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(descriptor, uid, gid)
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)
