"""Paths of a file system as text: nothing is looked up."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable


def plain_path(path: str) -> str:
    """Return the path without `.`, `..`, double slashes and a slash at its end."""
    plain = posixpath.normpath(path)
    return plain[1:] if plain.startswith("//") else plain  # POSIX lets two slashes at the beginning be, Linux does not


def is_below(path: str, bases: Iterable[str]) -> bool:
    """Return whether an absolute path is one of the directories, or lies below one."""
    plain = plain_path(path)
    return plain.startswith("/") and any(
        plain == base or plain.startswith(base.rstrip("/") + "/") for base in map(plain_path, bases)
    )
