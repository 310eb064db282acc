"""Names and values of requests in UTF-8, which WSGI passes on as if it were Latin-1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

_TAG = "X-Object-Meta-Tag"


@dataclass(frozen=True, slots=True)
class ObjectRequest:
    """A request that stores an object. size: bytes, None if unknown. tags: of X-Object-Meta-Tag."""

    tenant: str
    container: str
    object: str
    size: int | None = None
    tags: frozenset[str] = frozenset()


def text_of(value: str) -> str:
    """Decode a value of a request. A value that is not UTF-8 becomes a text that matches no name."""
    return value.encode("latin-1", "replace").decode("utf-8", "replace")


def object_of(parts: Sequence[str], account_prefix: str) -> ObjectRequest:
    """Return the object of a split path: an empty part, version, account, container and object."""
    account, container, name = (text_of(part) for part in parts[2:5])
    return ObjectRequest(account.removeprefix(account_prefix), container, name)


def name_of(path: str, before: int) -> bytes:
    """Return account, container and object of a path, in bytes. before: the number of parts before them."""
    return path.split("/", before + 1)[before + 1].encode("latin-1")


def name_behind(path: str, headers: Mapping[str, str]) -> bytes:
    """Return the name of the object that an answer of the proxy contains: for a symlink, its target."""
    if (target := headers.get("Content-Location")) is None:
        return name_of(path, 1)
    return name_of(unquote_to_bytes(target.partition("?")[0]).decode("latin-1"), 1)


def tags_of(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the words of the header with an object's tags."""
    words = (word.strip() for word in text_of(headers.get(_TAG, "")).split(","))
    return frozenset(word for word in words if word)
