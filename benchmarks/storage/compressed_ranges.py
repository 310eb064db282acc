"""Cost of a range at the end of a compressed object, with frames and in the form of earlier versions.

    python -m benchmarks.storage.compressed_ranges --mb 100 --rounds 7

The filter alone, in one process, with the stored bytes in memory: CPU milliseconds for 10 KB, and the bytes requested
from the store. Rounds are interleaved; medians, with least and most. Also the cost of frames in space and at PUT.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import lz4.frame  # type: ignore[import-untyped]
import zstandard

from benchmarks.storage.figures.store import text
from storage_filters.transforms.compression import Compression
from storage_filters.transforms.stream_filters import (
    PIECE_BYTES,
    exactly,
    read_tables,
    run_backward,
    run_forward,
    spans,
)

_RANGE_BYTES = 10_000


@dataclass
class _Object:
    """One object in its stored form; `record` is stored with it."""

    kept: bytes
    record: Mapping[str, object]
    times_ms: list[float] = field(default_factory=list)
    asked_bytes: int = 0

    def read(self, first: int, end: int) -> bytes:
        """Return a range, and record its cost."""
        self.asked_bytes = 0
        began_s = time.process_time()
        found = Compression.from_record(self.record)
        read_tables([found], self._stored_pieces)
        last = spans([found], first, None)[-1]
        chunks = self._stored_pieces(last.first, last.end)
        got = b"".join(exactly(run_backward([found], chunks, first, None), end - first))
        self.times_ms.append((time.process_time() - began_s) * 1e3)
        return got

    def _stored_pieces(self, first: int, end: int | None) -> Iterator[bytes]:
        for at in range(first, len(self.kept) if end is None else end, PIECE_BYTES):
            piece = self.kept[at : min(at + PIECE_BYTES, len(self.kept) if end is None else end)]
            self.asked_bytes += len(piece)
            yield piece


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    body = text(arguments.mb * 10**6, random.Random(1))
    for kind in ("ZSTD", "LZ4"):
        found = {"frames": _object_with_frames(kind, body), "one frame": _object_without_frames(kind, body)}
        for _ in range(arguments.rounds):
            for entry in found.values():
                assert entry.read(len(body) - _RANGE_BYTES, len(body)) == body[-_RANGE_BYTES:]
        for name, compression in found.items():
            median, least, most = (
                statistics.median(compression.times_ms),
                min(compression.times_ms),
                max(compression.times_ms),
            )
            print(
                f"{kind}, {name}: {median:.2f} ms of CPU ({least:.2f} to {most:.2f}), {compression.asked_bytes} bytes "
                f"asked; "
                f"stored {len(compression.kept) / len(body):.2%} of {len(body)} bytes",
                flush=True,
            )


def _object_with_frames(kind: str, body: bytes) -> _Object:
    one = Compression(kind)
    kept = b"".join(run_forward([one], (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))))
    return _Object(kept, one.record())


def _object_without_frames(kind: str, body: bytes) -> _Object:
    """Return the object in the form of earlier versions."""
    if kind == "ZSTD":
        kept = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(body)
    else:
        kept = lz4.frame.compress(body, content_checksum=True)
    return _Object(kept, {"filter": "COMPRESSION", "type": kind})


if __name__ == "__main__":
    main()
