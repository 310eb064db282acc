"""Names and values of requests as they were meant: WSGI hands UTF-8 on as if it were Latin-1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

_TAG = "X-Object-Meta-Tag"


@dataclass(frozen=True, slots=True)
class ObjectRequest:
    """A request that stores an object. size: bytes, None while it is not known. tags: of X-Object-Meta-Tag."""

    tenant: str
    container: str
    object: str
    size: int | None = None
    tags: frozenset[str] = frozenset()


def text_of(value: str) -> str:
    """Return a value of a request as it was meant. What is no UTF-8 belongs to nothing that anybody can name."""
    return value.encode("latin-1", "replace").decode("utf-8", "replace")


def object_of(parts: Sequence[str], account_prefix: str) -> ObjectRequest:
    """Return the object of a path that was split: version, account, container and object behind an empty part."""
    account, container, name = (text_of(part) for part in parts[2:5])
    return ObjectRequest(account.removeprefix(account_prefix), container, name)


def name_of(path: str, before: int) -> bytes:
    """Return account, container and object of a path, in bytes. before: how many parts stand before them."""
    return path.split("/", before + 1)[before + 1].encode("latin-1")


def name_behind(path: str, headers: Mapping[str, str]) -> bytes:
    """Return the name of the object whose bytes an answer of the proxy's has: of a symlink, that of its target."""
    if (target := headers.get("Content-Location")) is None:
        return name_of(path, 1)
    return name_of(unquote_to_bytes(target.partition("?")[0]).decode("latin-1"), 1)


def tags_of(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the words of the header that has an object's tags."""
    words = (word.strip() for word in text_of(headers.get(_TAG, "")).split(","))
    return frozenset(word for word in words if word)
