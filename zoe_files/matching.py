"""Files that match patterns such as `out/*.csv`, with `*`, `?` and `[...]` within one name, or lie in a folder."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TypedDict

from zoe_client.words.file_paths import joined_path
from zoe_files.beneath import Parts, Root
from zoe_files.refusal import FileRefused

FOUND_MAX = 1000
EXAMINED_MAX = 20_000
_TIME_S = 5.0


class Match(TypedDict):
    """A file that matches a pattern."""

    path: str
    size_bytes: int
    modified_at_s: float


class Matches(TypedDict):
    """Matching files by path. Not `complete`: there are more files, or too many names to examine. `unmatched`: patterns
    without a file.
    """

    files: list[Match]
    unmatched: list[str]
    complete: bool


def _is_pattern(name: bytes) -> bool:
    return any(special in name for special in (b"*", b"?", b"["))


class _TooManyNames(Exception):  # noqa: N818 - it is a signal
    pass


def matching(root: Root, patterns: Sequence[Parts]) -> Matches:
    """Return the regular files that match one of the patterns, and those below a directory that one names in full."""
    found: dict[str, Match] = {}
    unmatched, walk = [], _Walk(root)
    try:
        for pattern in patterns:
            before = len(found)
            for parts, seen in walk.files((), pattern):
                path = joined_path(parts)
                found[path] = {"path": path, "size_bytes": seen.st_size, "modified_at_s": seen.st_mtime}
                if len(found) >= FOUND_MAX:
                    raise _TooManyNames
            if len(found) == before:
                unmatched.append(joined_path(pattern))
    except _TooManyNames:
        return {"files": _in_path_order(found), "unmatched": unmatched, "complete": False}
    return {"files": _in_path_order(found), "unmatched": unmatched, "complete": True}


def _in_path_order(found: dict[str, Match]) -> list[Match]:
    return [found[path] for path in sorted(found)]


class _Walk:
    def __init__(self, root: Root) -> None:
        self._root = root
        self._examined = 0
        self._until_s = time.monotonic() + _TIME_S

    def files(self, above: Parts, pattern: Parts) -> Iterator[tuple[Parts, os.stat_result]]:
        """Yield the files below a directory that match the rest of a pattern."""
        for name in self._names(above, pattern[0]):
            parts = (*above, name)
            if len(pattern) > 1:
                yield from self.files(parts, pattern[1:])
                continue
            seen = self._stat(parts)
            if seen is not None and stat.S_ISREG(seen.st_mode):
                yield parts, seen
            elif seen is not None and stat.S_ISDIR(seen.st_mode) and not _is_pattern(pattern[0]):
                yield from self._beneath(parts)

    def _beneath(self, directory: Parts) -> Iterator[tuple[Parts, os.stat_result]]:
        """Yield the files in a directory and in those below it, but not through links to directories."""
        directories = [directory]
        while directories:
            above = directories.pop()
            for name in self._names(above, b"*"):
                parts = (*above, name)
                seen, itself = self._stat(parts), self._stat(parts, os.O_NOFOLLOW)
                if seen is not None and stat.S_ISREG(seen.st_mode):
                    yield parts, seen
                elif itself is not None and stat.S_ISDIR(itself.st_mode):
                    directories.append(parts)

    def _stat(self, parts: Parts, flags: int = 0) -> os.stat_result | None:
        """Return the status of a path; None if there is nothing, or it leads out of the root."""
        with suppress(OSError):
            descriptor = self._root.open(parts, os.O_PATH | flags)
            try:
                return os.fstat(descriptor)
            finally:
                os.close(descriptor)
        return None

    def _names(self, above: Parts, pattern: bytes) -> list[bytes]:
        if not _is_pattern(pattern):
            return [pattern]
        names: list[bytes] = []
        with suppress(FileRefused), self._root.directory(above) as directory, os.scandir(directory) as entries:
            for entry in entries:
                self._examined += 1
                if self._examined > EXAMINED_MAX or time.monotonic() > self._until_s:
                    raise _TooManyNames
                name = os.fsencode(entry.name)
                if fnmatchcase(name, pattern) and not (name.startswith(b".") and not pattern.startswith(b".")):
                    names.append(name)
        return sorted(names)
