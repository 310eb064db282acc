"""Locks of objects in a directory that all processes of a gateway share: writers share a lock, and a conditional
replacement holds it exclusively.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventlet import sleep

_FILES = 4096
_LOOK_S = 0.01


class LockBusy(Exception):  # noqa: N818 - the name is the fact
    """Another request holds the lock."""


class ObjectLocks:
    """Locks of objects. directory: is created if its parent exists, and belongs to the server's user, even while root
    starts the server; None: no locks. Several objects may have the same lock.
    """

    def __init__(self, directory: Path | None, user: str = "swift") -> None:
        self._directory = directory
        if directory is not None:
            directory.mkdir(mode=0o700, exist_ok=True)
            if os.geteuid() == 0:
                try:
                    shutil.chown(directory, user)
                except LookupError:
                    raise ValueError(f"there is no user {user!r} for locks_dir: name one as `user`") from None

    @property
    def is_enabled(self) -> bool:
        """Return whether writers lock."""
        return self._directory is not None

    @contextmanager
    def shared(self, path: str, wait_s: float) -> Iterator[None]:
        """Hold the lock of an object together with other writers. Raises LockBusy after that time."""
        with self._hold(path, fcntl.LOCK_SH, wait_s):
            yield

    @contextmanager
    def exclusive(self, path: str, wait_s: float) -> Iterator[None]:
        """Hold the lock of an object exclusively. Raises LockBusy after that time."""
        with self._hold(path, fcntl.LOCK_EX, wait_s):
            yield

    @contextmanager
    def creating(self, path: str, wait_s: float) -> Iterator[None]:
        """Hold the lock for the creation of an object, exclusively among creators. Raises LockBusy after that time. It
        differs from the lock of writers, which a long upload of another object may share.
        """
        with self._hold(path, fcntl.LOCK_EX, wait_s, "first-"):
            yield

    @contextmanager
    def _hold(self, path: str, how: int, wait_s: float, kind: str = "") -> Iterator[None]:
        if self._directory is None:
            yield
            return
        number = int.from_bytes(hashlib.sha256(path.encode(errors="surrogateescape")).digest()[:4], "big") % _FILES
        descriptor = os.open(self._directory / f"{kind}{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            give_up_s = time.monotonic() + wait_s
            while not _try_lock(descriptor, how):
                if time.monotonic() > give_up_s:
                    raise LockBusy(path)
                sleep(_LOOK_S)
            yield
        finally:
            os.close(descriptor)  # this releases the lock


def _try_lock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
