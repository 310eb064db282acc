"""Table of the frames of a compressed object, for reads from the middle. Pure.

The format is that of zstd's "seekable format" (contrib/seekable_format/zstd_seekable_compression_format.md, version
0.1.0): after the independent frames comes a skippable one, with the lengths of all others. lz4 has the same skippable
frames, so the table serves it too.

    magic 0x184D2A5E, length of the rest | for each frame: stored, put length | frames, descriptor 0, 0x8F92EAB1
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from storage_filters.transforms.stream_filters import DamagedObjectError, Span

FRAME_BYTES = 256 * 1024
"""Original bytes in each frame but the last one."""
_HEAD, _ENTRY, _FOOT = struct.Struct("<II"), struct.Struct("<II"), struct.Struct("<IBI")
_SKIPPABLE, _SEEKABLE = 0x184D2A5E, 0x8F92EAB1


class SeekTable:
    """Lengths of frames. frames: the stored and the original length of each, in bytes."""

    def __init__(self, frames: Sequence[tuple[int, int]]) -> None:
        self._frames = list(frames)
        self._stored = [0, *accumulate(stored for stored, _ in frames)]
        self._put = [0, *accumulate(put for _, put in frames)]

    @classmethod
    def parse(cls, raw: bytes) -> SeekTable:
        """Parse the table of a skippable frame. Raises DamagedObjectError."""
        try:
            magic, length = _HEAD.unpack_from(raw)
            number, descriptor, seekable = _FOOT.unpack_from(raw, len(raw) - _FOOT.size)
            entries = raw[_HEAD.size : -_FOOT.size]
            whole = length == len(raw) - _HEAD.size and len(entries) == number * _ENTRY.size
        except struct.error:
            whole = False
        if not whole or (magic, descriptor, seekable) != (_SKIPPABLE, 0, _SEEKABLE):
            raise DamagedObjectError("its seek table cannot be read")
        frames = list(_ENTRY.iter_unpack(entries))
        put = [put for _, put in frames]
        if not put or set(put[:-1]) - {FRAME_BYTES} or not 0 < put[-1] <= FRAME_BYTES:
            raise DamagedObjectError("its seek table has frames of other lengths")
        return cls(frames)

    def to_frame(self) -> bytes:
        """Return the skippable frame."""
        entries = b"".join(_ENTRY.pack(*frame) for frame in self._frames)
        foot = _FOOT.pack(len(self._frames), 0, _SEEKABLE)
        return _HEAD.pack(_SKIPPABLE, len(entries) + len(foot)) + entries + foot

    @property
    def stored_size(self) -> int:
        """Return the stored bytes of all frames."""
        return self._stored[-1]

    def span(self, first: int, end: int | None) -> Span:
        """Return the frames that contain a range; a range to the end includes the table."""
        begin = max(0, min(bisect_right(self._put, first) - 1, len(self._frames) - 1))
        until = None
        if end is not None:
            after = bisect_left(self._put, end)
            until = self._stored[max(after, begin + 1)] if after < len(self._put) else None
        return Span(self._stored[begin], until, first - self._put[begin])
