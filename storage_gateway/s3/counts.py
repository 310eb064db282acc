"""Numbers and sizes of objects in a bucket, counted by listing it, since S3 does not report them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from storage_gateway.s3.client import PAGE_LENGTH, S3Client
from storage_gateway.s3.pages import Item

_KEPT_S = 60.0
_SHARE = 20.0
"""Counting takes at most one part in so many of the time."""


@dataclass(frozen=True, slots=True)
class Count:
    """Count of one bucket. until_s: on the monotonic clock, the time until which it is reused."""

    objects: int
    size: int
    until_s: float = 0.0


class Counts:
    """Counts by bucket. Buckets of one page are counted each time; longer ones at most once a minute."""

    def __init__(self, client: S3Client) -> None:
        self._client = client
        self._known: dict[str, Count] = {}

    def count_of(self, account: str, bucket: str) -> Count | None:
        """Return the count of a bucket; None if the bucket does not exist."""
        known = self._known.get(bucket)
        if known is not None and known.until_s > time.monotonic():
            return known
        began_s = time.monotonic()
        try:
            every = [item for page in self._client.pages(account, bucket) for item in page.items]
        except LookupError:
            self.forget(bucket)
            return None
        return self.remember(bucket, every, time.monotonic() - began_s)

    def remember(self, bucket: str, every: Sequence[Item], took_s: float = 0.0) -> Count:
        """Return the count of a completely listed bucket, and remember it."""
        until_s = time.monotonic() + max(_KEPT_S, _SHARE * took_s)
        made = Count(len(every), sum(item.size for item in every), until_s)
        if made.objects < PAGE_LENGTH:
            self.forget(bucket)
        else:
            self._known[bucket] = made
        return made

    def forget(self, bucket: str) -> None:
        """Forget a bucket."""
        self._known.pop(bucket, None)
