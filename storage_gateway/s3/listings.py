"""Listings: the pages that S3 sends, and what Swift would answer of sorted names. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus
from xml.etree import ElementTree

LIMIT = 10_000
"""Of entries in an answer, as in Swift."""


class Unreadable(ValueError):  # noqa: N818 - the name is the fact
    """What the store sent is no listing."""


@dataclass(frozen=True, slots=True)
class Item:
    """An object of a listing, or the common start of several, which has no ETag. modified: `2026-01-31T12:00:00.000`.

    `etag` is the store's, without quotes.
    """

    name: str
    etag: str = ""
    size: int = 0
    modified: str = ""

    @property
    def is_start(self) -> bool:
        """Return whether it stands for several objects."""
        return not self.modified


@dataclass(frozen=True, slots=True)
class Page:
    """What a store sends at once; `following`: the name after which the next page starts, if there is one."""

    items: tuple[Item, ...]
    following: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client asks of a listing, in Swift's words; ends are not listed themselves."""

    prefix: str = ""
    delimiter: str = ""
    marker: str = ""
    end_marker: str = ""
    limit: int = LIMIT
    reverse: bool = False
    path: str | None = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wanted:
        """Return what a query asks for; the proxy has refused a limit that is none."""
        path, limit = query.get("path"), query.get("limit", "")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        if path is not None:
            prefix, delimiter = (path.rstrip("/") + "/" if path else ""), "/"
        return cls(
            prefix,
            delimiter,
            query.get("marker", ""),
            query.get("end_marker", ""),
            min(int(limit), LIMIT) if limit.isascii() and limit.isdecimal() else LIMIT,
            query.get("reverse", "").lower() in ("1", "true", "yes", "on", "t", "y"),
            path,
        )


def page_of(body: bytes) -> Page:
    """Return a page of `ListObjects` (version 1); Unreadable."""
    try:
        if b"<!DOCTYPE" in body:
            raise Unreadable("a listing with declarations")
        root = ElementTree.fromstring(body)  # noqa: S314 - without declarations there is nothing to expand
        space = root.tag.partition("}")[0] + "}" if root.tag.startswith("{") else ""

        def told(of: ElementTree.Element, name: str) -> str:
            return of.findtext(f"{space}{name}") or ""

        quoted = told(root, "EncodingType") == "url"

        def name(text: str) -> str:
            return unquote_plus(text, errors="surrogateescape") if quoted else text

        items = [
            Item(
                name(told(one, "Key")),
                told(one, "ETag").strip('"'),
                int(told(one, "Size")),
                told(one, "LastModified").removesuffix("Z"),
            )
            for one in root.iter(f"{space}Contents")
        ]
        starts = [Item(name(told(one, "Prefix"))) for one in root.iter(f"{space}CommonPrefixes")]
    except (ElementTree.ParseError, ValueError) as error:
        raise Unreadable(f"the store sent no listing: {error}") from None
    found = sorted((*items, *starts), key=lambda item: key_of(item.name))
    more = told(root, "IsTruncated") == "true" and bool(found)
    following = name(told(root, "NextMarker")) or found[-1].name if more else None
    return Page(tuple(found), following)


def chosen(items: Iterable[Item], wanted: Wanted) -> Iterator[Item]:
    """Yield what a client wants of items in their order, which is descending if it wants that."""
    step = -1 if wanted.reverse else 1
    before = ""
    number = 0
    for item in items:
        if number >= wanted.limit:
            return
        shown = _shown(item, wanted)
        if shown is None or (shown.is_start and shown.name == before):
            continue
        if wanted.marker and _compared(shown.name, wanted.marker) * step <= 0:
            # Of objects behind the marker that start alike, the start is named, unless it is the marker itself.
            inside = wanted.marker.startswith(item.name) if item.is_start else False
            if not shown.is_start or shown.name == wanted.marker or not (inside or _behind(item, wanted, step)):
                continue
        if wanted.end_marker and _compared(item.name, wanted.end_marker) * step >= 0:
            return
        before = shown.name if shown.is_start else before
        if shown.is_start and wanted.path is not None:
            continue
        number += 1
        yield shown


def key_of(name: str) -> bytes:
    """Return by what names are sorted: their bytes."""
    return name.encode("utf-8", "surrogateescape")


def _shown(item: Item, wanted: Wanted) -> Item | None:
    if not item.name.startswith(wanted.prefix) or (wanted.path is not None and item.name == wanted.prefix):
        return None
    at = item.name.find(wanted.delimiter, len(wanted.prefix)) if wanted.delimiter else -1
    return item if at < 0 else Item(item.name[: at + len(wanted.delimiter)])


def _behind(item: Item, wanted: Wanted, step: int) -> bool:
    return _compared(item.name, wanted.marker) * step > 0


def _compared(one: str, other: str) -> int:
    first, second = key_of(one), key_of(other)
    return (first > second) - (first < second)
