"""Remove unused environments: the oldest beyond the site's size, and those beyond its age."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.services.kept_logs import KeptOutput, bytes_of, outputs_to_remove

_NAME = re.compile(r"[0-9a-f]{64}")
# A copy of pip left by a killed master; copying takes a second.
_BEGUN, _BEGUN_S_MAX = ".pip-*-*", 3600.0


class EnvironmentSweeper:
    """Measures each environment once, and removes those beyond the limits. Users own the directories it walks."""

    def __init__(self, settings: LocalSettings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        assert settings.environments_dir is not None
        self._settings = settings
        self._base = settings.environments_dir
        self._bytes: dict[tuple[Path, int], int] = {}
        self._sweeping = threading.Lock()

    def sweep(self, used: Callable[[], Collection[Path]]) -> int:
        """Remove unused environments beyond the limits; return how many were removed.

        A second sweep begins after the first: two at once would skip each other's locked environments. It then reads
        the environments in use again, as they may have changed meanwhile.
        """
        with self._sweeping:
            return self._sweep_unused(used())

    def _sweep_unused(self, used: Collection[Path]) -> int:
        for path in self._base.glob(_BEGUN):
            if path.stat().st_mtime < self._clock.now_s() - _BEGUN_S_MAX:
                shutil.rmtree(path, ignore_errors=True)
        for path in used:
            with suppress(OSError):
                os.utime(f"{path}.lock", follow_symlinks=False)
        there = {str(path): self._measure(path) for path in self._environments()}
        bytes_max, age_s = self._settings.environments_bytes_max, self._settings.environments_age_max_s
        gone = [
            Path(name)
            for name in outputs_to_remove(there, bytes_max, self._clock.now_s() - age_s)
            if Path(name) not in used
        ]
        return sum(_remove_if_unlocked(path) for path in gone)

    def _environments(self) -> Iterator[Path]:
        for user in self._base.iterdir():
            if user.name.startswith(".") or user.is_symlink():
                continue
            names = {path.name.removesuffix(".lock") for path in user.iterdir()}
            yield from (user / name for name in sorted(names) if _NAME.fullmatch(name))

    def _measure(self, path: Path) -> KeptOutput:
        used_s, made_ns = 0.0, 0
        with suppress(OSError):
            made_ns = path.lstat().st_mtime_ns
        with suppress(OSError):
            used_s = Path(f"{path}.lock").lstat().st_mtime
        size = self._bytes.get((path, made_ns))
        if size is None:
            size = 0 if path.is_symlink() else bytes_of(path)
            if not _is_locked(path):
                self._bytes[path, made_ns] = size
        return KeptOutput(used_s, size)


def _remove_if_unlocked(path: Path) -> bool:
    """Remove one unless a build holds its lock; a new build waits until it is gone."""
    lock = _lock(path)
    if lock is None:
        return False
    try:
        _make_writable(path)
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # a file or a link, which no build makes
            path.unlink()
        if os.path.lexists(path):
            return False
        with suppress(OSError):
            Path(f"{path}.lock").unlink()
        return True
    finally:
        os.close(lock)


def _make_writable(path: Path) -> None:
    """Let its owner remove it; root needs no permission, and changes no modes where users could place links."""
    if os.geteuid() == 0:
        return
    for parent, _, _ in os.walk(path):
        with suppress(OSError):
            Path(parent).chmod(0o700)


def _is_locked(path: Path) -> bool:
    lock = _lock(path)
    if lock is None:
        return True
    os.close(lock)
    return False


def _lock(path: Path) -> int | None:
    """Return the descriptor of the held lock, or None if it is held or is not a file."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        lock = os.open(f"{path}.lock", flags)
    except FileNotFoundError:  # no build leaves this; nothing can hold it
        return os.open(path.parent, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if stat.S_ISREG(os.fstat(lock).st_mode):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
    except OSError:
        pass
    os.close(lock)
    return None
