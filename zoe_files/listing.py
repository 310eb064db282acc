"""List directories, page by page."""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator
from typing import TypedDict

from zoe_client.words.file_paths import joined_path, path_text
from zoe_files.beneath import Parts, Root
from zoe_files.refusal import refuse_os_errors

UPLOADS = b".zoe-uploads"
"""Prefix of the hidden directories that hold unfinished uploads, at the top of a root."""
ENTRIES_MAX = 1000
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory"}


class Entry(TypedDict):
    """A file, a directory, or another thing with a name. `link`: its name is a symbolic link."""

    name: str
    kind: str
    size_bytes: int
    modified_at_s: float
    link: bool


class Page(TypedDict):
    """The entry at a path and, for a directory, one page of its entries. `next`: the name after which the next page
    begins.
    """

    entry: Entry
    entries: list[Entry]
    next: str | None


def page_at(root: Root, parts: Parts, after: bytes, limit: int) -> Page:
    """Return the entry at a path, and one page of its entries; FileRefused."""
    with refuse_os_errors(joined_path(parts)):
        descriptor = root.open(parts, os.O_PATH)
    try:
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    entry = _entry(parts[-1] if parts else b"", found, link=False)
    if not stat.S_ISDIR(found.st_mode):
        return {"entry": entry, "entries": [], "next": None}
    limit = min(limit, ENTRIES_MAX)
    with root.directory(parts) as directory, refuse_os_errors(joined_path(parts)):
        # Keep no more names in memory than one page has, however large the directory is.
        names = heapq.nsmallest(limit + 1, (name for name in _names(directory, not parts) if name > after))
        entries = [one for name in names[:limit] if (one := _read_entry(root, parts, directory, name))]
    return {"entry": entry, "entries": entries, "next": path_text(names[limit - 1]) if len(names) > limit else None}


def _names(directory: int, is_root: bool) -> Iterator[bytes]:
    with os.scandir(directory) as found:
        for entry in found:
            name = os.fsencode(entry.name)
            if not (is_root and name.startswith(UPLOADS)):
                yield name


def _read_entry(root: Root, parts: Parts, directory: int, name: bytes) -> Entry | None:
    """Return one entry; None if it no longer exists."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISLNK(found.st_mode):
        return _entry(name, found, link=False)
    try:
        target = root.open((*parts, name), os.O_PATH)
    except OSError:
        return _entry(name, found, link=True)
    try:
        return _entry(name, os.fstat(target), link=True)
    finally:
        os.close(target)


def _entry(name: bytes, found: os.stat_result, *, link: bool) -> Entry:
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "other")
    size = found.st_size if kind == "file" else 0
    return {
        "name": path_text(name),
        "kind": kind,
        "size_bytes": size,
        "modified_at_s": found.st_mtime,
        "link": link,
    }
