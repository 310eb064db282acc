"""Listings of sorted names, as Swift answers them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from storage_gateway.s3.pages import Item, key_of

LIMIT = 10_000
"""Most entries in an answer, as in Swift."""


@dataclass(frozen=True, slots=True)
class ListingRequest:
    """Parameters of a listing, in Swift's terms; the ends are exclusive."""

    prefix: str = ""
    delimiter: str = ""
    marker: str = ""
    end_marker: str = ""
    limit: int = LIMIT
    reverse: bool = False
    path: str | None = None

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> ListingRequest:
        """Parse a query; the proxy has refused invalid limits."""
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


def select(items: Iterable[Item], wanted: ListingRequest) -> Iterator[Item]:
    """Yield the requested items of an ordered sequence, which is descending if the request is."""
    step = -1 if wanted.reverse else 1
    before = ""
    number = 0
    for item in items:
        if number >= wanted.limit:
            return
        shown = _listed_item(item, wanted)
        if shown is None or (shown.is_start and shown.name == before):
            continue
        if wanted.marker and _compare(shown.name, wanted.marker) * step <= 0:
            # Of objects behind the marker with a common beginning, only the beginning is listed, unless it is the
            # marker itself.
            inside = wanted.marker.startswith(item.name) if item.is_start else False
            if not shown.is_start or shown.name == wanted.marker or not (inside or _behind(item, wanted, step)):
                continue
        if wanted.end_marker and _compare(item.name, wanted.end_marker) * step >= 0:
            return
        before = shown.name if shown.is_start else before
        if shown.is_start and wanted.path is not None:
            continue
        number += 1
        yield shown


def _listed_item(item: Item, wanted: ListingRequest) -> Item | None:
    if not item.name.startswith(wanted.prefix) or (wanted.path is not None and item.name == wanted.prefix):
        return None
    at = item.name.find(wanted.delimiter, len(wanted.prefix)) if wanted.delimiter else -1
    return item if at < 0 else Item(item.name[: at + len(wanted.delimiter)])


def _behind(item: Item, wanted: ListingRequest, step: int) -> bool:
    return _compare(item.name, wanted.marker) * step > 0


def _compare(one: str, other: str) -> int:
    first, second = key_of(one), key_of(other)
    return (first > second) - (first < second)
