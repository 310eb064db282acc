"""Open a backup file and check it before a restore, and read it member by member."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from zoe_lib.sealing import KEY_FILE, is_key_text
from zoe_lib.store.backup.manifest import MANIFEST, MANIFEST_BYTES_MAX, Manifest, NewerBackup, read_manifest
from zoe_lib.store.backup.signature import signature_of, signer
from zoe_lib.store.errors import StoreError

_KEY_BYTES_MAX = 4096
# Exceptions of zipfile for damaged bytes: flags, versions, names and offsets may be wrong as well as contents.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


class BackupFile:
    """An open backup: its manifest, its key of credentials if it contains one, and the rows of its tables. `signed` is
    a sentence about its signature.
    """

    def __init__(self, archive: zipfile.ZipFile, signed: str) -> None:
        self._archive = archive
        self.signed = signed
        self._names = set(archive.namelist())
        self.manifest: Manifest = read_manifest(self._small(MANIFEST, MANIFEST_BYTES_MAX))
        self.key = self._small(KEY_FILE, _KEY_BYTES_MAX) if KEY_FILE in self._names else None
        if self.key is not None and not is_key_text(self.key):
            raise StoreError(f"{KEY_FILE} does not contain a key of Zoe")
        for table in self.manifest.tables:
            if member_of(table.name) not in self._names:
                raise StoreError(f"it has no {member_of(table.name)}")

    @contextmanager
    def rows(self, table: str) -> Iterator[Member]:
        """Yield the rows of a table."""
        name = member_of(table)
        try:
            with self._archive.open(name) as file:
                yield Member(file)
        except _DAMAGED as error:
            raise StoreError(damage_message(name)) from error

    def _small(self, name: str, bytes_max: int) -> bytes:
        if name not in self._names:
            raise StoreError(f"it has no {name}")
        if self._archive.getinfo(name).file_size > bytes_max:
            raise StoreError(f"{name} has more than {bytes_max} bytes")
        try:
            return self._archive.read(name)
        except _DAMAGED as error:
            raise StoreError(damage_message(name)) from error


class Member:
    """The rows of a table, in COPY format. `error` is the exception of a read: the driver raises another one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        try:
            return self._file.read(size)
        except Exception as error:
            self.error = error
            raise


def member_of(table: str) -> str:
    """Return the name of the member with the rows of a table."""
    return f"tables/{table}"


def damage_message(member: str) -> str:
    """Return the message about a damaged member."""
    return f"the backup is damaged: {member}"


@contextmanager
def open_backup(path: Path, signers: Path | None = None) -> Iterator[BackupFile]:
    """Yield an open backup of this or an older version; StoreError if it is not one, or if none of the signers signed
    it.
    """
    with _regular(path) as file:
        signed = _signature_text(file, path, signers)
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGED as error:
            raise StoreError(f"{path} is not a complete backup: {error}") from error
        with archive:
            try:
                backup = BackupFile(archive, signed)
            except NewerBackup as error:
                raise StoreError(f"{path} {error}") from error
            except StoreError as error:
                raise StoreError(f"{path} is not a backup of Zoe: {error}") from error
            yield backup


def _signature_text(file: IO[bytes], path: Path, signers: Path | None) -> str:
    if signers is not None:
        name = signer(file, path, signers)
        file.seek(0)
        return f"signed by {name}"
    return f"{signature_of(path).name} was not checked: name the signers that you trust by --signers" * (
        signature_of(path).exists()
    )


@contextmanager
def _regular(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file. A pipe or a device may have no end, and opening a pipe may block for ever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StoreError(f"{path} is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)
