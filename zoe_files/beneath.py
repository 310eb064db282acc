"""Open paths below a directory, safe against links that lead out and concurrent renames: `openat2` of Linux 5.6."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from zoe_client.words.file_paths import joined_path
from zoe_files.refusal import FileRefused, refuse_os_errors, wrong_kind

_OPENAT2 = 437  # on every architecture
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_RENAME_NOREPLACE = 1
# The kernel cannot resolve a path while another program renames it, and asks to try again.
_TRIES_MAX = 100
_libc = ctypes.CDLL(None, use_errno=True)

Parts = Sequence[bytes]


class CannotResolve(Exception):  # noqa: N818 - the name is the fact
    """This kernel cannot confine paths to a directory."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Root:
    """A directory, and the operations below it. Links are followed as long as they stay below it."""

    def __init__(self, directory: str) -> None:
        self.descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.close(_openat2(self.descriptor, b".", os.O_PATH, 0, _BENEATH))
        except OSError as error:
            os.close(self.descriptor)
            raise CannotResolve(f"openat2 is not possible here: {error.strerror}") from error

    def open(self, parts: Parts, flags: int, mode: int = 0, *, links: bool = True) -> int:
        """Return a descriptor without waiting for another program; OSError."""
        resolve = _BENEATH | _NO_MAGIC_LINKS | (0 if links else _NO_LINKS)
        flags |= os.O_CLOEXEC | (0 if flags & os.O_PATH else os.O_NONBLOCK | os.O_NOCTTY)
        for tries_left in reversed(range(_TRIES_MAX)):
            try:
                return _openat2(self.descriptor, b"/".join(parts) or b".", flags, mode, resolve)
            except InterruptedError:
                continue
            except BlockingIOError:
                if not tries_left:
                    raise
        raise AssertionError

    @contextmanager
    def directory(self, parts: Parts) -> Iterator[int]:
        """Hold a directory open; FileRefused."""
        with refuse_os_errors(joined_path(parts)):
            descriptor = self.open(parts, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def parent(self, parts: Parts) -> Iterator[tuple[int, bytes]]:
        """Hold the parent directory of a path open, and yield it with the last name; FileRefused for the root
        itself.
        """
        if not parts:
            raise FileRefused(422, "invalid_path", "the directory itself cannot be changed")
        with self.directory(parts[:-1]) as descriptor:
            yield descriptor, parts[-1]

    @contextmanager
    def file(self, parts: Parts) -> Iterator[tuple[int, os.stat_result]]:
        """Hold a regular file open for reading; FileRefused for anything else, such as a pipe, which would block."""
        shown = joined_path(parts)
        with refuse_os_errors(shown):
            descriptor = self.open(parts, os.O_RDONLY)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise wrong_kind(f"{shown or 'the directory'} is not a regular file")
            yield descriptor, found
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close the directory."""
        os.close(self.descriptor)


def move(from_directory: int, from_name: bytes, to_directory: int, to_name: bytes) -> None:
    """Rename a file or directory to a name that is free; OSError."""
    result = _libc.renameat2(from_directory, from_name, to_directory, to_name, _RENAME_NOREPLACE)
    if result != 0:
        _fail()


def _openat2(directory: int, path: bytes, flags: int, mode: int, resolve: int) -> int:
    how = _OpenHow(flags, mode, resolve)
    found: int = _libc.syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(directory),
        ctypes.c_char_p(path),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    return found if found >= 0 else _fail()


def _fail() -> int:
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code) if code != errno.EXDEV else "a link leads out of the directory")
