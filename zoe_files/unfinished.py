"""The directory of a user's unfinished uploads in a root, which members of a tenant may share."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress

from zoe_files.beneath import Root
from zoe_files.listing import UPLOADS

_FLAGS = os.O_RDONLY | os.O_DIRECTORY
_PRIVATE = 0o700
_TRIES_MAX = 20


class UnfinishedDirectory:
    """`.zoe-uploads-UID-RANDOM`, recognised by its owner. It exists while there are unfinished uploads.

    In the shared workspace, every member of a tenant may take any name first, or rename the directory. A random name,
    and a check of the owner, prevent members from blocking each other's uploads or taking them over.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        self._prefix = UPLOADS + b"-%d-" % os.geteuid()

    @contextmanager
    def holding(self, name: str) -> Iterator[int | None]:
        """Hold the directory open that has a file of this name; None if none has."""
        with closing(self._each()) as each:
            for _, descriptor in each:
                with suppress(OSError):
                    os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                    break
            else:
                descriptor = None
            yield descriptor

    @contextmanager
    def get_or_create(self) -> Iterator[int]:
        """Hold a directory open, and make it first if there is none; OSError. Nobody removes it meanwhile."""
        for _ in range(_TRIES_MAX):
            with closing(self._each()) as each:
                for _, descriptor in each:
                    if _is_kept(descriptor):
                        yield descriptor
                        return
            os.mkdir(self._prefix + secrets.token_hex(8).encode(), _PRIVATE, dir_fd=self._root.descriptor)
        raise FileNotFoundError(2, "another program renames the directory of unfinished uploads")

    def remove_if_empty(self) -> None:
        """Remove each directory that holds no uploads, unless another request makes one there."""
        for name, descriptor in self._each():
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.rmdir(name, dir_fd=self._root.descriptor)

    def every(self) -> Iterator[int]:
        """Yield a descriptor of each directory of unfinished uploads that belongs to the user."""
        for _, descriptor in self._each():
            yield descriptor

    def _each(self) -> Generator[tuple[bytes, int], None, None]:
        for name in self._names():
            descriptor = self._open_own(name)
            if descriptor is not None:
                try:
                    yield name, descriptor
                finally:
                    os.close(descriptor)

    def _open_own(self, name: bytes) -> int | None:
        """Return a descriptor of a directory of the user; None for a link, a file, or a directory of another user."""
        with suppress(OSError):
            descriptor = self._root.open((name,), _FLAGS, links=False)
            if os.fstat(descriptor).st_uid == os.geteuid():
                return descriptor
            os.close(descriptor)
        return None

    def _names(self) -> list[bytes]:
        # Scans of one descriptor at once would share its position, and miss names.
        with suppress(OSError), _opened(self._root.descriptor) as own, os.scandir(own) as found:
            return sorted(
                os.fsencode(entry.name) for entry in found if os.fsencode(entry.name).startswith(self._prefix)
            )
        return []


@contextmanager
def _opened(directory: int) -> Iterator[int]:
    descriptor = os.open(".", _FLAGS, dir_fd=directory)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_kept(descriptor: int) -> bool:
    """Keep a directory from being removed while it is open; return False if it has been removed."""
    with suppress(OSError):  # a file system without locks; then none is removed either
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return os.fstat(descriptor).st_nlink > 0
