"""Create directories that components own, below directories that components may write to."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from zoe_master.backends.base import is_program
from zoe_master.backends.services.failures import CannotStartError

_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@-]{0,199}")


@dataclass(frozen=True, slots=True)
class ComponentUser:
    """The user that components run as, if it differs from Zoe's."""

    uid: int
    gid: int


def is_safe_name(name: str) -> bool:
    """Return whether a name is a single plain file name, whatever its source."""
    return _SAFE_NAME.fullmatch(name) is not None


def make_base(path: Path, mode: int) -> None:
    """Create a directory of the back-end; an existing one keeps its mode."""
    if path.is_dir():
        return
    path.mkdir(mode=mode, parents=True)
    path.chmod(mode)


def take_base(path: Path) -> None:
    """Make a base directory for components' directories: only root changes it, all users may enter it.

    Before version 0.3 it belonged to the one user of all components.
    """
    make_base(path, 0o711)
    if os.geteuid() == 0 and path.stat().st_uid != 0:
        os.chown(path, 0, 0)
        path.chmod(0o711)


def write_owned(
    base: Path,
    names: tuple[str, ...],
    files: Mapping[str, str],
    owner: ComponentUser | None,
    mode: int | None = None,
) -> None:
    """Write files that only the owner can read, into the directory that `make_owned` creates; never through a link.
    Without a mode, programs (`is_program`) can be executed.
    """
    directory = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            directory = _enter(directory, name, owner, base)
        for name, text in files.items():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            chosen = (0o700 if is_program(text) else 0o600) if mode is None else mode
            with os.fdopen(os.open(name, flags, chosen, dir_fd=directory), "w", newline="") as file:
                file.write(text)
                if owner is not None:
                    os.fchown(file.fileno(), owner.uid, owner.gid)
    finally:
        os.close(directory)


def write_tree(
    base: Path, names: tuple[str, ...], files: Iterable[tuple[str, str]], owner: ComponentUser | None
) -> None:
    """Write files with relative paths as names as `write_owned` does, with the directories on their way."""
    for name, text in files:
        *directories, last = name.split("/")
        write_owned(base, (*names, *directories), {last: text}, owner)


def make_owned(base: Path, names: tuple[str, ...], owner: ComponentUser | None) -> Path:
    """Return the directory base/name/name..., creating missing parts for the owner (mode 0700).

    No part may be a symbolic link: components own the parents, and root would create directories wherever such a link
    leads.
    """
    directory = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            directory = _enter(directory, name, owner, base)
    finally:
        os.close(directory)
    return base.joinpath(*names)


def remove(path: Path) -> None:
    """Remove a directory with its contents, never following links; whatever cannot be removed stays."""
    shutil.rmtree(path, ignore_errors=True)


def _enter(parent: int, name: str, owner: ComponentUser | None, base: Path) -> int:
    if not is_safe_name(name):
        raise CannotStartError(f"{name!r} is not a valid name of a directory below {base}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
    try:
        child = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    except OSError as error:
        raise CannotStartError(f"{name} below {base} is not a directory: {error.strerror}") from error
    if owner is not None and _is_newly_made(child):
        os.fchown(child, owner.uid, owner.gid)
    os.close(parent)
    return child


def _is_newly_made(directory: int) -> bool:
    """Return whether our mkdir has just created it, now or in a back-end that was killed before it changed the owner.

    No other user can create such a directory below one of the component's: ours, closed and empty.
    """
    found = os.fstat(directory)
    return found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700 and not os.listdir(directory)
