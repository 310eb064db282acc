"""How much smaller compression makes what clients store: samples of contents, counted for each container.

The first 64 KiB of one body in eight are compressed by zstd at level 1, and of each of a container's first eight. What
they were and became is counted in memory shared by the workers of a proxy, and reported as counters that never fall.
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
"""Of smaller bodies, the format's own bytes would be a part that counts."""
ONE_IN = 8
SAMPLE_FIELDS = ("born", "sampled_bytes", "compressed_bytes")
"""What a report has of each counter."""
_SEEN_MAX = 4096


class ContentSamples:
    """The counters, in a file beside that of the rates."""

    def __init__(self, rates_file: str | Path) -> None:
        self._table = CounterTable(Path(rates_file).with_suffix(".samples"), len(SAMPLE_FIELDS) - 1, NAME_BYTES)
        self._seen: dict[str, int] = {}

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._table.close()

    def begin(self, name: str) -> ContentSample | None:
        """Return what takes in a body of that counter's, if it is sampled."""
        if len(self._seen) >= _SEEN_MAX:
            self._seen.clear()
        self._seen[name] = times = self._seen.get(name, 0) + 1
        return ContentSample(self._table, name) if times <= ONE_IN or random.randrange(ONE_IN) == 0 else None

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of `SAMPLE_FIELDS` by names of counters."""
        return self._table.counts()


class ContentSample:
    """The beginning of one body."""

    def __init__(self, table: CounterTable, name: str) -> None:
        self._table = table
        self._name = name
        self._begin = bytearray()

    def see(self, data: bytes) -> None:
        """Take in the next bytes."""
        if (left := SAMPLE_BYTES - len(self._begin)) > 0:
            self._begin += data[:left]

    def count(self) -> None:
        """Compress the sample and count it; to be called when the body was stored."""
        sampled = len(self._begin)
        if sampled < LEAST_BYTES:
            return
        compressed = min(len(zstandard.ZstdCompressor(level=1).compress(bytes(self._begin))), sampled)
        change = lambda now, _: (now[0] + sampled, now[1] + compressed)  # noqa: E731 - it is short
        self._table.change(self._name, change, time.monotonic())
