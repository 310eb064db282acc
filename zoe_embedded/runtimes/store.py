"""Runtimes that all clones on a machine share: installed once for each content, in a directory beside the homes.

The name of a runtime is a hash of its content, so a second clone with the same lock file finds the runtime of the
first. A process that builds one holds its lock exclusively, and processes that use it share the lock: no runtime in use
is removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from zoe_embedded.home import RUNTIMES_VARIABLE, Home, HomeError, check_others_can_enter, make_directory, make_parents

KEPT = 3
"""Kept variants of a runtime: the most recently used ones, and all in use."""
_STAMP = "zoe.stamp"
_LOCK_SUFFIX = ".lock"
_KEY_CHARACTERS = 16
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_held: dict[Path, int] = {}
"""Runtimes that this process uses until it ends, and the descriptors of their locks."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Recipe of a runtime; `parts` is its complete content. `build` gets an empty path."""

    name: str
    parts: tuple[bytes, ...]
    build: Callable[[Path], None]

    @property
    def key(self) -> str:
        """Return a name for the content."""
        digest = hashlib.sha256()
        for part in self.parts:
            digest.update(f"{len(part)} ".encode() + part)
        return digest.hexdigest()[:_KEY_CHARACTERS]


def provide(home: Home, recipe: Recipe) -> Path:
    """Return the directory of a runtime, building a missing one. It stays until this process ends.

    Scripts of an environment contain its path, so it is built in place; one without a stamp was interrupted, and is
    built anew. Raises HomeError if other users can write the shared directory.
    """
    directory = _directory(home, recipe)
    if directory in _held and _complete(directory):
        return directory
    _make_place(home)
    while not _held_if_complete(directory):
        with lock_file(_lock_of(directory)):
            if not _complete(directory):
                _build(directory, recipe)
                _remove_unused(directory.parent, recipe.name)
    _remove_former(home.runtime / recipe.name)
    return directory


def present(home: Home, recipe: Recipe) -> Path | None:
    """Return the directory of a runtime if it exists, otherwise None."""
    return provide(home, recipe) if is_built(home, recipe) else None


def is_built(home: Home, recipe: Recipe) -> bool:
    """Return whether a runtime exists."""
    return _complete(_directory(home, recipe))


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold a lock file exclusively; wait until no other process holds it."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def make_readable(directory: Path) -> None:
    """Let every account read and enter the installed files, since components run as other users if Zoe is root; only
    the owner writes.
    """
    for path in [directory, *directory.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode & ~_WRITABLE_BY_OTHERS
            path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))


def _directory(home: Home, recipe: Recipe) -> Path:
    return home.runtimes / f"{recipe.name}-{recipe.key}"


def _lock_of(directory: Path) -> Path:
    return directory.with_name(directory.name + _LOCK_SUFFIX)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _make_place(home: Home) -> None:
    place = home.runtimes
    make_parents(place)
    if not place.exists():
        make_directory(place, 0o755 if home.by_root else 0o700)
    _check_ours(place)
    if home.by_root:
        check_others_can_enter(place, RUNTIMES_VARIABLE)


def _check_ours(path: Path) -> None:
    """Raise HomeError if other users can change a directory: their files would run with the rights of this process."""
    status = path.lstat()
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    if not ours or status.st_mode & _WRITABLE_BY_OTHERS:
        raise HomeError(
            f"{path} should be a directory of user {os.geteuid()} that no other user can write, but it belongs to user "
            f"{status.st_uid} and has mode {stat.S_IMODE(status.st_mode):o}: correct it, or set {RUNTIMES_VARIABLE} to "
            "another directory"
        )


def _complete(directory: Path) -> bool:
    if not (directory / _STAMP).is_file():
        return False
    _check_ours(directory)
    return True


def _held_if_complete(directory: Path) -> bool:
    """Take a share of its lock, and keep it if the runtime exists. Its modification time is that of the last use."""
    descriptor = _open(_lock_of(directory))
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    if not _complete(directory):
        os.close(descriptor)
        return False
    os.utime(descriptor)
    if (former := _held.pop(directory, None)) is not None:
        os.close(former)
    _held[directory] = descriptor
    return True


def _build(directory: Path, recipe: Recipe) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    try:
        recipe.build(directory)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    make_readable(directory)
    (directory / _STAMP).write_text(recipe.key)


def _remove_unused(place: Path, name: str) -> None:
    """Remove unused variants of a runtime, except the most recently used ones."""
    variant = re.compile(rf"{re.escape(name)}-[0-9a-f]{{{_KEY_CHARACTERS}}}")
    found = [path for path in place.iterdir() if variant.fullmatch(path.name)]
    found.sort(key=_last_use_s, reverse=True)
    for directory in found[KEPT:]:
        descriptor = _open(_lock_of(directory))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (directory / _STAMP).unlink(missing_ok=True)
            shutil.rmtree(directory, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)


def _last_use_s(directory: Path) -> float:
    try:
        return _lock_of(directory).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove_former(directory: Path) -> None:
    """Remove a runtime of an earlier version, when each home had its own."""
    if (directory / _STAMP).is_file():
        shutil.rmtree(directory, ignore_errors=True)
