"""The directory of a user's unfinished uploads in a root, which members of a tenant may share."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from zoe_files.beneath import Root
from zoe_files.listing import UPLOADS

_FLAGS = os.O_RDONLY | os.O_DIRECTORY
_PRIVATE = 0o700
_MADE_TRIES_MAX = 3


class UnfinishedDirectory:
    """`.zoe-uploads-UID-RANDOM`, recognised by its owner.

    In the shared workspace, every member of a tenant may take any name first, or rename the directory. A random name,
    and a check of the owner, prevent members from blocking each other's uploads or taking them over.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        self._prefix = UPLOADS + b"-%d-" % os.geteuid()
        self._known = b""

    @contextmanager
    def existing(self) -> Iterator[int | None]:
        """Hold the directory open; None if there is none."""
        descriptor = self._find()
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)

    @contextmanager
    def get_or_create(self) -> Iterator[int]:
        """Hold the directory open, and make it first if there is none; OSError."""
        descriptor = self._find()
        for _ in range(_MADE_TRIES_MAX):
            if descriptor is not None:
                break
            self._known = self._prefix + secrets.token_hex(8).encode()
            os.mkdir(self._known, _PRIVATE, dir_fd=self._root.descriptor)
            descriptor = self._find()
        if descriptor is None:
            raise FileNotFoundError(2, "another program renames the directory of unfinished uploads")
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def every(self) -> Iterator[int]:
        """Yield a descriptor of each directory of unfinished uploads that belongs to the user."""
        for name in self._names():
            descriptor = self._open_own(name)
            if descriptor is not None:
                try:
                    yield descriptor
                finally:
                    os.close(descriptor)

    def _find(self) -> int | None:
        if self._known and (descriptor := self._open_own(self._known)) is not None:
            return descriptor
        for name in self._names():
            if (descriptor := self._open_own(name)) is not None:
                self._known = name
                return descriptor
        return None

    def _open_own(self, name: bytes) -> int | None:
        """Return a descriptor of a directory of the user; None for a link, a file, or a directory of another user."""
        with suppress(OSError):
            descriptor = self._root.open((name,), _FLAGS, links=False)
            if os.fstat(descriptor).st_uid == os.geteuid():
                return descriptor
            os.close(descriptor)
        return None

    def _names(self) -> list[bytes]:
        with suppress(OSError), os.scandir(self._root.descriptor) as found:
            return sorted(
                os.fsencode(entry.name) for entry in found if os.fsencode(entry.name).startswith(self._prefix)
            )
        return []
