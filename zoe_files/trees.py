"""Write many small files of one request: a line of JSON for each, followed by its bytes.

A line is `{"path": PATH, "size": BYTES}`, with an optional `mode` and `sha256`; `{"path": PATH, "directory": true}`; or
`{"path": PATH, "link": PATH}` for a second name of a file. Paths are texts below the directory of the request.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from zoe_client.words.file_paths import InvalidPath, joined_path, path_parts
from zoe_files.beneath import Parts, Root
from zoe_files.changes import check_changeable, make_directory
from zoe_files.refusal import FileRefused, refuse_os_errors, wrong_kind
from zoe_files.unfinished import UnfinishedDirectory

TREE_BYTES_MAX = 80 << 20
"""A client repeats a broken tree from its beginning, so it is short; larger files have uploads of their own."""
FILES_MAX = 10_000
_LINE_BYTES_MAX = 32_768
_PIECE_BYTES = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODES = 0o777
_DIGEST_LENGTH = 64

Read = Callable[[int], bytes]


@dataclass(slots=True)
class Written:
    """The number of files written, and their bytes."""

    files: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file of a tree. `link`: the existing file that it names, instead of bytes."""

    parts: tuple[bytes, ...]
    size: int
    mode: int
    directory: bool
    sha256: str | None
    link: tuple[bytes, ...] | None


class TreeWriter:
    """Writes the files of one request below a directory. Each appears, and replaces one of its name, when complete."""

    def __init__(self, root: Root, check_room: Callable[[int, str], None]) -> None:
        self._root = root
        self._check_room = check_room
        self._place = UnfinishedDirectory(root)
        self._known: set[tuple[bytes, ...]] = set()

    def write(self, above: Parts, length: int, read: Read) -> Written:
        """Write all files of a body of this length; FileRefused, and then those before stay."""
        shown = joined_path(above)
        check_changeable(above)
        if length > TREE_BYTES_MAX:
            raise FileRefused(413, "too_large", f"a tree has at most {TREE_BYTES_MAX} bytes: upload large files alone")
        self._check_room(length, shown)
        body, written = _Body(length, read), Written()
        self._make(tuple(above))
        try:
            return self._write_all(above, body, written)
        finally:
            self._place.remove_if_empty()

    def _write_all(self, above: Parts, body: _Body, written: Written) -> Written:
        with refuse_os_errors(joined_path(above)), self._place.get_or_create() as unfinished:
            while (entry := body.entry(above)) is not None:
                if written.files >= FILES_MAX:
                    raise FileRefused(413, "too_large", f"a tree has at most {FILES_MAX} files")
                check_changeable(entry.parts)
                self._make(entry.parts if entry.directory else entry.parts[:-1])
                if not entry.directory:
                    self._write_one(unfinished, entry, body)
                written.files += 1
                written.size_bytes += entry.size
        return written

    def _make(self, directory: tuple[bytes, ...]) -> None:
        if directory not in self._known:
            make_directory(self._root, directory)
            self._known.add(directory)

    def _write_one(self, unfinished: int, entry: _Entry, body: _Body) -> None:
        shown, name = joined_path(entry.parts), secrets.token_hex(16)
        try:
            with refuse_os_errors(shown):
                if entry.link is None:
                    _fill(unfinished, name, entry, body)
                else:
                    self._link(unfinished, name, entry.link)
                with self._root.parent(entry.parts) as (directory, last):
                    _check_free(directory, last, shown)
                    os.rename(name, last, src_dir_fd=unfinished, dst_dir_fd=directory)
        finally:
            with suppress(FileNotFoundError):  # also left by a rename of two names of one file
                os.unlink(name, dir_fd=unfinished)

    def _link(self, unfinished: int, name: str, existing: Parts) -> None:
        with self._root.parent(existing) as (directory, last), refuse_os_errors(joined_path(existing)):
            if not stat.S_ISREG(os.stat(last, dir_fd=directory, follow_symlinks=False).st_mode):
                raise wrong_kind(f"{joined_path(existing)} is not a file")
            os.link(last, name, src_dir_fd=directory, dst_dir_fd=unfinished, follow_symlinks=False)


def _fill(unfinished: int, name: str, entry: _Entry, body: _Body) -> None:
    file, digest = os.open(name, _NEW, entry.mode, dir_fd=unfinished), hashlib.sha256()
    try:
        left = entry.size
        while left:
            piece = body.piece(min(left, _PIECE_BYTES))
            left -= len(piece)
            digest.update(piece)
            view = memoryview(piece)
            while view:
                view = view[os.write(file, view) :]
        if entry.sha256 not in (None, digest.hexdigest()):
            raise _bad(f"{joined_path(entry.parts)} is not the file that was announced: it changed while it was sent")
    finally:
        os.close(file)


def _check_free(directory: int, name: bytes, shown: str) -> None:
    with suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise wrong_kind(f"{shown} exists and is not a file")


class _Body:
    """The body of a request: lines, and the bytes between them."""

    def __init__(self, length: int, read: Read) -> None:
        self._left = length
        self._read = read
        self._buffer = b""

    def entry(self, above: Parts) -> _Entry | None:
        """Return the next entry; None at the end. FileRefused."""
        if not self._buffer and not self._left:
            return None
        try:
            said = json.loads(self._line())
            parts = path_parts(said["path"])
            link = path_parts(said["link"]) if "link" in said else None
            directory = said.get("directory") is True
            entry = _Entry(
                (*above, *parts),
                0 if link is not None or directory else _number(said["size"], TREE_BYTES_MAX),
                _number(said.get("mode", 0o666), _MODES),
                directory,
                _digest(said.get("sha256")),
                None if link is None else (*above, *link),
            )
        except InvalidPath as error:
            raise FileRefused(422, "invalid_path", str(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _bad("a line is not a JSON object with path and size, link or directory") from None
        if not parts or link == ():
            raise FileRefused(422, "invalid_path", "an entry of a tree needs a name")
        return entry

    def piece(self, size: int) -> bytes:
        """Return up to this many bytes, and at least one; FileRefused at the end."""
        piece, self._buffer = self._buffer[:size], self._buffer[size:]
        return piece or self._more(size)

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            if len(self._buffer) > _LINE_BYTES_MAX:
                raise _bad(f"a line has more than {_LINE_BYTES_MAX} bytes")
            self._buffer += self._more(_LINE_BYTES_MAX)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _more(self, size: int) -> bytes:
        piece = self._read(min(size, self._left))
        if not piece:
            raise _bad("the body ended early")
        self._left -= len(piece)
        return piece


def _number(value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError
    return value


def _digest(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and len(value) == _DIGEST_LENGTH):
        raise ValueError
    return value


def _bad(sentence: str) -> FileRefused:
    return FileRefused(422, "invalid_upload", sentence)
