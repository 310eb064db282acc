"""The backing of a volume: made, removed, and fenced by epochs."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time

from .programs import ProgramFailed, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DATA, EPOCH, TURN, SERVED, FORMATTED, MOUNT, RUN = "data", "epoch", "turn", "served", "formatted", "mount", "run"
ENCRYPTION = "luks"
HEADER_BYTES = 4 << 20
"""Space for the header of an encrypted volume."""
_CIPHER = ("--type", "luks1", "--cipher", "aes-xts-plain64", "--key-size", "512", "--hash", "sha256")
_OFFSET = str(HEADER_BYTES // 512)
_ITERATIONS = "1000"
"""The key is random, so that slow derivation adds nothing."""
TURN_S = 60.0


class VolumeRefused(Exception):  # noqa: N818 - the name is the fact
    """The volume cannot be made, attached or removed; the message says why, for users."""


def make(directory: str, size_bytes: int, filters: list[str], key: str) -> None:
    """Reserve a volume's space, and write the header of its encryption; do nothing if it is there.

    VolumeRefused, leaving nothing, if there is no room: a backing is never smaller than its volume.
    """
    os.makedirs(directory, mode=0o711, exist_ok=True)
    with turn(directory):
        data, draft = f"{directory}/{DATA}", f"{directory}/{DATA}.new"
        if os.path.exists(data):
            return
        try:
            with open(draft, "wb") as file:
                os.fchmod(file.fileno(), 0o600)
                os.posix_fallocate(file.fileno(), 0, size_bytes + (HEADER_BYTES if ENCRYPTION in filters else 0))
            if ENCRYPTION in filters:
                _encrypt(draft, key)
            _sync(draft)
            os.rename(draft, data)
            os.makedirs(f"{directory}/{MOUNT}", mode=0o711, exist_ok=True)
            _sync(directory)
        except (OSError, ProgramFailed) as error:
            remove(directory, locked=True)
            raise VolumeRefused(_why_not_made(error, size_bytes)) from error


def remove(directory: str, *, locked: bool = False) -> None:
    """Remove a volume that is not attached; VolumeRefused if a server of it lives."""
    import shutil

    if not os.path.isdir(directory):
        return
    with contextlib.nullcontext() if locked else turn(directory):
        held = try_lock(f"{directory}/{SERVED}")
        if held is None:
            raise VolumeRefused("a server of the volume is still running")
        os.close(held)
        if os.path.ismount(f"{directory}/{MOUNT}"):
            raise VolumeRefused("the volume is still mounted")
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def turn(directory: str) -> Iterator[None]:
    """Be the only one that attaches, detaches or removes the volume; VolumeRefused if another does for too long."""
    deadline_s = time.monotonic() + TURN_S
    while (descriptor := try_lock(f"{directory}/{TURN}")) is None:
        if time.monotonic() >= deadline_s:
            raise VolumeRefused(f"another program has been changing the volume for {TURN_S:g} s")
        time.sleep(0.02)
    try:
        yield
    finally:
        os.close(descriptor)


def try_lock(path: str) -> int | None:
    """Return the descriptor that holds a lock; None if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def read_epoch(directory: str) -> int:
    """Return the newest epoch that the volume was attached with; 0 before the first."""
    try:
        with open(f"{directory}/{EPOCH}", encoding="ascii") as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


def enter_epoch(directory: str, epoch: int) -> None:
    """Store an epoch durably before anything is written under it; VolumeRefused if a newer one was stored.

    The same epoch is accepted again, for a supervisor that was restarted: its server needs the lock, too.
    """
    newest = read_epoch(directory)
    if newest > epoch:
        raise VolumeRefused(f"attachment {epoch} is fenced off: the volume has been attached again ({newest})")
    if newest == epoch:
        return
    draft = f"{directory}/{EPOCH}.new"
    with open(draft, "w", encoding="ascii") as file:
        file.write(f"{epoch}\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(draft, f"{directory}/{EPOCH}")
    _sync(directory)


def mark_formatted(directory: str) -> None:
    """Note durably that the volume has a file system, so that it is never formatted again."""
    with open(f"{directory}/{FORMATTED}", "w") as file:
        os.fsync(file.fileno())
    _sync(directory)


def _encrypt(data: str, key: str) -> None:
    words = ("cryptsetup", "luksFormat", "--batch-mode", *_CIPHER, "--pbkdf-force-iterations", _ITERATIONS)
    run([*words, "--offset", _OFFSET, "--key-file", "-", data], key)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _why_not_made(error: Exception, size_bytes: int) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the disk has no room for {size_bytes / 2**30:.4g} GiB"
    return str(error)
