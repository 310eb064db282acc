"""Content types of objects, which S3 listings lack, and with them the size and ETag of objects with other contents.
Pure.

An entry is valid for one version of an object, which a listing identifies by ETag, size and second of the write. So it
needs no invalidation: a write by another client makes another version, and unknown versions are requested again. Each
process has a separate index.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from storage_gateway.s3.pages import Item

_SLACK_S = 1
"""Most seconds between the date of a store's answer to a PUT and the time of the object."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A version and its content type at the store. written_s: seconds since 1970."""

    etag: str
    size: int
    written_s: int
    content_type: str


class Index:
    """Content types by bucket and key; the least recently used go first."""

    def __init__(self, entries_max: int = 200_000) -> None:
        self._known: OrderedDict[tuple[str, str], Entry] = OrderedDict()
        self._entries_max = entries_max

    def note(self, bucket: str, key: str, entry: Entry) -> None:
        """Remember a version."""
        self._known[bucket, key] = entry
        self._known.move_to_end((bucket, key))
        while len(self._known) > self._entries_max:
            self._known.popitem(last=False)

    def forget(self, bucket: str, key: str) -> None:
        """Forget an object."""
        self._known.pop((bucket, key), None)

    def content_types(self, bucket: str, versions: Iterable[tuple[Item, int]]) -> dict[str, str]:
        """Return the content types of the known versions in a listing, by name. versions: with the second of each
        write.
        """
        known, found = self._known, {}
        for item, written_s in versions:
            entry = known.get((bucket, item.name))
            if (
                entry is not None
                and entry.etag == item.etag
                and entry.size == item.size
                and abs(entry.written_s - written_s) <= _SLACK_S
            ):
                found[item.name] = entry.content_type
                known.move_to_end((bucket, item.name))
        return found
