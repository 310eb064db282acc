"""How many objects a bucket has and how long they are: S3 does not say it, so they are counted by listing."""

from __future__ import annotations

import time
from dataclasses import dataclass

from storage_gateway.s3.client import PAGE_LENGTH, S3Client

_KEPT_S = 60.0
_SHARE = 20.0
"""Counting takes at most one part in so many of the time."""


@dataclass(frozen=True, slots=True)
class Count:
    """Of one bucket; `until_s` on the monotonic clock: until when it is told again without counting."""

    objects: int
    size: int
    until_s: float = 0.0


class Counts:
    """Counts by bucket. What one page lists is counted each time; longer buckets at most once a minute."""

    def __init__(self, client: S3Client) -> None:
        self._client = client
        self._known: dict[str, Count] = {}

    def of(self, account: str, bucket: str) -> Count | None:
        """Return the count of a bucket; None if there is none."""
        known = self._known.get(bucket)
        if known is not None and known.until_s > time.monotonic():
            return known
        began_s = time.monotonic()
        objects = size = 0
        try:
            for page in self._client.pages(account, bucket):
                objects += len(page.items)
                size += sum(item.size for item in page.items)
        except LookupError:
            self.forget(bucket)
            return None
        ended_s = time.monotonic()
        made = Count(objects, size, ended_s + max(_KEPT_S, _SHARE * (ended_s - began_s)))
        if objects < PAGE_LENGTH:
            self.forget(bucket)
        else:
            self._known[bucket] = made
        return made

    def forget(self, bucket: str) -> None:
        """Forget a bucket."""
        self._known.pop(bucket, None)
