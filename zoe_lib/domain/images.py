"""Names of container images, and the patterns by which an admin allows them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

ANY_DEPTH = "**"
"""A part of a pattern that stands for one part of a name or more."""


def full_name(image: str) -> str:
    """Return the name with its tag, as engines list it. A colon before the last slash belongs to a registry's port."""
    return image if "@" in image or ":" in image.rpartition("/")[2] else f"{image}:latest"


def spellings(image: str) -> tuple[str, str]:
    """Return the name without its digest, and that without its tag: what an admin may have written for it."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return name, head if colon and "/" not in tag else name


@lru_cache(maxsize=4096)
def image_matches(image: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a pattern stands for the image.

    `*`, `?` and `[...]` stay within one part of a name, as in paths, so that `*/tool` allows no registry of strangers;
    `**` as a whole part goes over any number of them. A pattern without a tag stands for all tags.
    """
    split = [pattern.split("/") for pattern in patterns]
    return any(_parts_match(name.split("/"), pattern) for name in set(spellings(image)) for pattern in split)


def _parts_match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not pattern and not parts
    if pattern[0] == ANY_DEPTH:
        return any(_parts_match(parts[count:], pattern[1:]) for count in range(1, len(parts) + 1))
    return fnmatchcase(parts[0], pattern[0]) and _parts_match(parts[1:], pattern[1:])
