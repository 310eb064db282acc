"""What listings of S3 do not say: content types, and with them the size and ETag of what is not what it seems. Pure.

An entry is good for one version of an object, which a listing tells by ETag, size and the second in which it was
written. So it needs no care: what others wrote since is another version, and what is unknown is asked for again. Each
process has its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from storage_gateway.s3.pages import Item

_SLACK_S = 1
"""Between the time at which a store dates its answer to a PUT and the time that it notes for the object."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A version and its content type as it is at the store. written_s: seconds since 1970."""

    etag: str
    size: int
    written_s: int
    content_type: str


class Index:
    """Content types by bucket and key; the longest unused go first."""

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
        """Return the content types of those versions in a listing that are known, by name. Of each, the second in which
        it was written is told beside it.
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
