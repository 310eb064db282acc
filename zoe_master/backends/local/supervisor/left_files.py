"""Record the files of a component's scratch directory before its removal."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .files import Document

OWN = frozenset({"zoe-storage", "zoe-sign-in", "zoe-files", "zoe-secrets", "zoe-source-secrets"})
"""Directories that Zoe makes there."""
NAMES_MAX = 20
NAME_CHARACTERS_MAX = 80
LOOKS_MAX = 10_000
"""Maximum files and directories visited: a service's end must not wait for a tree of millions."""
DEPTH_MAX = 40


def left_files(scratch: str) -> Document | None:
    """Return the largest entries of the directory with their sizes in bytes, and the sum of the others; None if it is
    empty. Zoe's own directories and hidden names, such as caches, are left out. No link is followed.

    `files`: for a directory, the number of files below it; null for a file. `at_least`: the limit ended the walk.
    """
    try:
        names = [name for name in os.listdir(scratch) if name not in OWN and not name.startswith(".")]
        root = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC) if names else -1
    except OSError:
        return None
    if not names:
        return None
    try:
        look = _Look(root)
        found = [look.entry(name) for name in names[:LOOKS_MAX]]
    finally:
        os.close(root)
    return largest(found, look.left <= 0 or len(names) > LOOKS_MAX, len(names[LOOKS_MAX:]))


def largest(found: Iterable[Document], at_least: bool, unseen: int = 0) -> Document:
    """Return the largest entries, and the sum of the others; `unseen`: the number of further entries."""
    ordered = sorted(found, key=lambda entry: (-entry["bytes"], entry["name"]))
    more = ordered[NAMES_MAX:]
    return {
        "entries": ordered[:NAMES_MAX],
        "more": len(more) + unseen,
        "more_bytes": sum(entry["bytes"] for entry in more),
        "at_least": at_least,
    }


class _Look:
    """Visits a bounded number of files below an open directory."""

    def __init__(self, root: int) -> None:
        self._root = root
        self.left = LOOKS_MAX

    def entry(self, name: str) -> Document:
        """Return a name with its size; 0 if unknown."""
        self.left -= 1
        try:
            seen = os.stat(name, dir_fd=self._root, follow_symlinks=False)
        except OSError:
            return {"name": printable_name(name), "files": None, "bytes": 0}
        if not stat.S_ISDIR(seen.st_mode):
            return {"name": printable_name(name), "files": None, "bytes": seen.st_size}
        files, size = self._below(name)
        return {"name": printable_name(name), "files": files, "bytes": size}

    def _below(self, name: str) -> tuple[int, int]:
        files = size = 0
        for path, directories, names, descriptor in os.fwalk(name, dir_fd=self._root):
            self.left -= len(directories) + len(names)
            for text in names:
                try:
                    size += os.stat(text, dir_fd=descriptor, follow_symlinks=False).st_size
                except OSError:
                    continue
                files += 1
            if self.left <= 0 or path.count("/") >= DEPTH_MAX:
                self.left = min(self.left, 0)
                break
        return files, size


def printable_name(name: str) -> str:
    """Return a printable name, shortened."""
    plain = "".join(text if text.isprintable() else "?" for text in name)
    return plain if len(plain) <= NAME_CHARACTERS_MAX else f"{plain[: NAME_CHARACTERS_MAX - 3]}..."
