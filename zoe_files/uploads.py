"""Resumable uploads (tus 1.0): an upload is a file in a hidden directory until it is complete and gets its name."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from zoe_client.words.file_paths import InvalidPath, joined_path, path_parts
from zoe_files.beneath import Parts, Root
from zoe_files.changes import check_changeable
from zoe_files.refusal import FileRefused, refuse_os_errors, wrong_kind
from zoe_files.unfinished import UnfinishedDirectory

EXPIRES_S = 86_400.0
UNFINISHED_MAX = 100
_FINISHED_MAX = 1000
_ID = re.compile("[0-9a-f]{32}")
_INFO_BYTES_MAX = 32_768
_PIECE_BYTES = 1 << 20
_CHECKED_EACH_BYTES = 16 << 20

Read = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest upload, and the space to leave free on the disk, in bytes."""

    upload_bytes_max: int
    free_bytes_min: int


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload: its target path, its length, the bytes received, and the time when it expires unless it continues."""

    id: str
    path: str
    length: int
    offset: int
    expires_at_s: float


class Uploads:
    """The unfinished uploads of one user below one root. The user can change their directory, so its contents are not
    trusted.
    """

    def __init__(self, root: Root, bounds: Bounds) -> None:
        self._root = root
        self._bounds = bounds
        self._place = UnfinishedDirectory(root)
        self._finished: OrderedDict[str, Upload] = OrderedDict()

    def create(self, parts: Parts, length: int) -> Upload:
        """Begin an upload to a path; an empty file is finished at once. FileRefused."""
        shown = joined_path(parts)
        check_changeable(parts)
        if length > self._bounds.upload_bytes_max:
            most = self._bounds.upload_bytes_max
            raise FileRefused(413, "too_large", f"{shown} has {length} bytes; an upload may have at most {most}")
        with self._root.parent(parts) as (directory, name):
            _check_target(directory, name, shown)
        self.sweep()
        unfinished = list(self._unfinished_name())
        if len(unfinished) >= UNFINISHED_MAX:
            raise FileRefused(429, "too_many_uploads", f"you have {UNFINISHED_MAX} unfinished uploads: end some first")
        self.check_room(length + sum(upload.length - upload.offset for upload in unfinished), shown)
        number = secrets.token_hex(16)
        with refuse_os_errors(shown), self._place.get_or_create() as directory:
            _write(directory, f"{number}.json", json.dumps({"path": shown, "length": length}).encode())
            os.close(os.open(number, _NEW, 0o666, dir_fd=directory))
        return self.find(number)

    def find(self, number: str) -> Upload:
        """Return an upload, and name it first if all its bytes have arrived; FileRefused."""
        if (finished := self._finished.get(number)) is not None:
            return finished
        upload = self._read_upload(number)
        if upload.offset < upload.length:
            return upload
        with self._lock(number) as held:
            return self._finish(held.directory, held.upload)

    def append(self, number: str, offset: int, length: int, read: Read) -> Upload:
        """Append `length` bytes to an upload, and name it after the last one; FileRefused.

        If fewer bytes arrive, they are kept, and the upload can continue.
        """
        with self._lock(number) as held:
            file, upload = held.file, held.upload
            if offset != upload.offset:
                raise FileRefused(409, "upload_offset", f"the upload has {upload.offset} bytes, not {offset}")
            if offset + length > upload.length:
                raise FileRefused(413, "too_large", f"the upload has {upload.length} bytes in all")
            os.lseek(file, offset, os.SEEK_SET)
            came = self._copy(file, offset, length, read, upload.path)
            grown = replace(upload, offset=came, expires_at_s=time.time() + EXPIRES_S)
            return self._finish(held.directory, grown) if came == grown.length else grown

    def end(self, number: str) -> None:
        """Remove an unfinished upload; FileRefused."""
        with self._open(number, os.O_RDONLY) as held:
            _remove(held.directory, number)
        self._place.remove_if_empty()

    def sweep(self) -> None:
        """Remove uploads that made no progress for a day, and files that belong to no upload."""
        for directory in self._place.every():
            with suppress(OSError):
                for number in {name.partition(".")[0] for name in os.listdir(directory)}:
                    with suppress(OSError):
                        if _is_old(directory, number):
                            _remove(directory, number)
        self._place.remove_if_empty()

    def _copy(self, file: int, offset: int, length: int, read: Read, shown: str) -> int:
        end, checked = offset + length, -_CHECKED_EACH_BYTES
        while offset < end:
            if offset - checked >= _CHECKED_EACH_BYTES:
                self.check_room(min(end - offset, _CHECKED_EACH_BYTES), shown)
                checked = offset
            piece = read(min(_PIECE_BYTES, end - offset))
            if not piece:
                break
            with refuse_os_errors(shown):
                left = memoryview(piece)
                while left:
                    written = os.write(file, left)
                    left, offset = left[written:], offset + written
        return offset

    def _finish(self, directory: int, upload: Upload) -> Upload:
        """Rename the upload to its target, replacing an existing file atomically; programs that hold the old file open
        keep it.
        """
        parts = path_parts(upload.path)
        with self._root.parent(parts) as (target, name):
            _check_target(target, name, upload.path)
            with refuse_os_errors(upload.path):
                os.rename(upload.id, name, src_dir_fd=directory, dst_dir_fd=target)
            _remove(directory, upload.id)
        self._place.remove_if_empty()
        # A client that lost the connection before the answer asks again.
        while len(self._finished) >= _FINISHED_MAX:
            self._finished.popitem(last=False)
        self._finished[upload.id] = upload
        return upload

    def check_room(self, needed: int, shown: str) -> None:
        """Refuse bytes for which the disk has no room; FileRefused."""
        with refuse_os_errors(shown):
            found = os.fstatvfs(self._root.descriptor)
        room = found.f_bavail * found.f_frsize - self._bounds.free_bytes_min
        if needed > room:
            sentence = f"{shown}: {needed} bytes are needed, and {max(room, 0)} are left: delete files, or ask an admin"
            raise FileRefused(507, "workspace_full", sentence)

    def _unfinished_name(self) -> Iterator[Upload]:
        found = [name for directory in self._place.every() for name in os.listdir(directory)]
        for name in filter(_ID.fullmatch, found):
            with suppress(FileRefused):
                yield self._read_upload(name)

    def _read_upload(self, number: str) -> Upload:
        with self._open(number, os.O_RDONLY) as held:
            return held.upload

    @contextmanager
    def _lock(self, number: str) -> Iterator[_OpenUpload]:
        """Hold an upload open for writing, locked against other requests; FileRefused."""
        with self._open(number, os.O_WRONLY) as held:
            try:
                fcntl.flock(held.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileRefused(423, "upload_busy", "another request writes to this upload") from None
            # It may have grown or been finished while this request waited for the lock: then the open file is not this
            # upload any more.
            yield _OpenUpload(held.directory, held.file, self._read_upload(number))

    @contextmanager
    def _open(self, number: str, flags: int) -> Iterator[_OpenUpload]:
        gone = FileRefused(404, "upload_gone", "this upload is finished, was ended, or has expired: begin it again")
        if not _ID.fullmatch(number):
            raise gone
        with self._place.holding(number) as directory:
            if directory is None:
                raise gone
            with _regular(directory, number, flags, gone) as (file, found):
                path, length = _info(directory, number, gone)
                yield _OpenUpload(
                    directory, file, Upload(number, path, length, found.st_size, found.st_mtime + EXPIRES_S)
                )


class _OpenUpload(NamedTuple):
    """Descriptors of the directory of unfinished uploads and of an upload in it."""

    directory: int
    file: int
    upload: Upload


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _write(directory: int, name: str, content: bytes) -> None:
    file = os.open(name, _NEW, 0o600, dir_fd=directory)
    try:
        os.write(file, content)
    finally:
        os.close(file)


@contextmanager
def _regular(directory: int, name: str, flags: int, gone: FileRefused) -> Iterator[tuple[int, os.stat_result]]:
    """Hold a regular file of the directory open; raise `gone` for anything else."""
    try:
        file = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        raise gone from None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise gone
        yield file, found
    finally:
        os.close(file)


def _info(directory: int, number: str, gone: FileRefused) -> tuple[str, int]:
    """Return the target path of an upload, and its length."""
    with _regular(directory, f"{number}.json", os.O_RDONLY, gone) as (file, _):
        try:
            said = json.loads(os.read(file, _INFO_BYTES_MAX))
            path, length = said["path"], said["length"]
            path_parts(path)
        except (OSError, InvalidPath, ValueError, KeyError, TypeError, AttributeError):
            raise gone from None
    if not isinstance(length, int) or length < 0:
        raise gone
    return path, length


def _check_target(directory: int, name: bytes, shown: str) -> None:
    with refuse_os_errors(shown):
        try:
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise wrong_kind(f"{shown} exists and is not a file")


def _is_old(directory: int, number: str) -> bool:
    changed_at_s = 0.0
    for name in (number, f"{number}.json"):
        with suppress(FileNotFoundError):
            changed_at_s = max(changed_at_s, os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime)
    return changed_at_s < time.time() - EXPIRES_S


def _remove(directory: int, number: str) -> None:
    for name in (number, f"{number}.json"):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
