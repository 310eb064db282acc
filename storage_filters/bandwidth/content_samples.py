"""Compressibility of the stored data, estimated from samples for each container.

Of one body in eight, and of the first eight of each container, zstd at level 1 compresses the first 64 KiB. The bytes
before and after compression are counted in memory shared by the workers of a proxy, and reported as counters that never
fall.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from pathlib import Path

import zstandard

from storage_filters.counting.counter_table import CounterTable
from storage_filters.counting.request_counters import NAME_BYTES

SAMPLE_BYTES = 64 * 1024
LEAST_BYTES = 1024
"""Smaller bodies are not sampled: the overhead of the format would distort the ratio."""
ONE_IN = 8
SAMPLE_FIELDS = ("born", "sampled_bytes", "compressed_bytes")
"""Fields of each counter in a report."""
_SEEN_MAX = 4096


class ContentSamples:
    """Counters of sampled bytes, in a file beside the one of the rates."""

    def __init__(self, rates_file: str | Path) -> None:
        self._table = CounterTable(Path(rates_file).with_suffix(".samples"), len(SAMPLE_FIELDS) - 1, NAME_BYTES)
        self._seen: dict[str, int] = {}

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._table.close()

    def begin(self, name: str) -> ContentSample | None:
        """Return a sample that takes the body's bytes, or None if this body is not sampled."""
        if len(self._seen) >= _SEEN_MAX:
            self._seen.clear()
        self._seen[name] = times = self._seen.get(name, 0) + 1
        return ContentSample(self._table, name) if times <= ONE_IN or random.randrange(ONE_IN) == 0 else None

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of `SAMPLE_FIELDS` by names of counters."""
        return self._table.counts()


class ContentSample:
    """Sample of the first bytes of one body."""

    def __init__(self, table: CounterTable, name: str) -> None:
        self._table = table
        self._name = name
        self._begin = bytearray()

    def see(self, data: bytes) -> None:
        """Append the next bytes of the body."""
        if (left := SAMPLE_BYTES - len(self._begin)) > 0:
            self._begin += data[:left]

    def count(self) -> None:
        """Compress the sample and count it; call this once the body is stored."""
        sampled = len(self._begin)
        if sampled < LEAST_BYTES:
            return
        compressed = min(len(zstandard.ZstdCompressor(level=1).compress(bytes(self._begin))), sampled)
        change = lambda now, _: (now[0] + sampled, now[1] + compressed)  # noqa: E731 - it is short
        self._table.change(self._name, change, time.monotonic())
