"""Compare paths of a file system as text, without reading the file system."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable


def plain_path(path: str) -> str:
    """Return the path without `.`, `..`, double slashes and a trailing slash."""
    plain = posixpath.normpath(path)
    return plain[1:] if plain.startswith("//") else plain  # POSIX gives two leading slashes a meaning, Linux does not


def is_below(path: str, bases: Iterable[str]) -> bool:
    """Return whether an absolute path is one of the directories, or lies below one."""
    plain = plain_path(path)
    return plain.startswith("/") and any(
        plain == base or plain.startswith(base.rstrip("/") + "/") for base in map(plain_path, bases)
    )
