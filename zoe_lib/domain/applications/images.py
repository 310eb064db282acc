"""Names of container images, and patterns with which an admin allows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

ANY_DEPTH = "**"
"""Part of a pattern that matches one or more parts of a name."""
_NAME_LENGTH_MAX = 255
_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_HOST_PART = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_REFERENCE = re.compile(
    rf"(?P<host>{_HOST_PART}(?:\.{_HOST_PART})*(?::[0-9]+)?/)?(?P<path>{_PART}(?:/{_PART})*)"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?"
)
_IDENTIFIER = re.compile(r"[0-9a-f]{64}")
_HUB = "docker.io/library/"


def is_reference(image: str) -> bool:
    """Return whether a text is an image name in Docker's grammar: [host/]path[:tag][@digest]."""
    found = _REFERENCE.fullmatch(image)
    if found is None or _IDENTIFIER.fullmatch(image):
        return False
    host, path = found["host"] or "", found["path"]
    if host and not (set(".:") & set(host) or host == "localhost/"):
        host, path = (
            _HUB.removesuffix("library/"),
            host + path,
        )  # the first part is not a host, so it must be in lower case
    elif not host:
        host = _HUB
    return path == path.lower() and len(host) + len(path) <= _NAME_LENGTH_MAX


def full_name(image: str) -> str:
    """Return the name with its tag, as engines list it. A colon before the last slash belongs to a registry's port."""
    return image if "@" in image or ":" in image.rpartition("/")[2] else f"{image}:latest"


def spellings(image: str) -> tuple[str, str]:
    """Return the name without its digest, and also without its tag: the forms that an admin may have written."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return name, head if colon and "/" not in tag else name


@lru_cache(maxsize=4096)
def image_matches(image: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns matches the image.

    `*`, `?` and `[...]` match within one part of a name, as in paths, so that `*/tool` allows no foreign registry; `**`
    as a whole part matches any number of parts. A pattern without a tag matches all tags.
    """
    split = [pattern.split("/") for pattern in patterns]
    return any(_parts_match(name.split("/"), pattern) for name in set(spellings(image)) for pattern in split)


def _parts_match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not pattern and not parts
    if pattern[0] == ANY_DEPTH:
        return any(_parts_match(parts[count:], pattern[1:]) for count in range(1, len(parts) + 1))
    return fnmatchcase(parts[0], pattern[0]) and _parts_match(parts[1:], pattern[1:])
