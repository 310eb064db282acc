"""Files whose paths match patterns such as `out/*.csv`: `*`, `?` and `[...]` within one name."""

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


class _TooManyNames(Exception):  # noqa: N818 - it is a signal
    pass


def matching(root: Root, patterns: Sequence[Parts]) -> Matches:
    """Return the regular files that match one of the patterns."""
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
            with suppress(OSError):
                descriptor = self._root.open(parts, os.O_PATH)
                try:
                    seen = os.fstat(descriptor)
                finally:
                    os.close(descriptor)
                if stat.S_ISREG(seen.st_mode):
                    yield parts, seen

    def _names(self, above: Parts, pattern: bytes) -> list[bytes]:
        if not any(special in pattern for special in (b"*", b"?", b"[")):
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
