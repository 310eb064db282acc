"""CPU time of an object server for a view, framed between the pieces of the body: only the proxy knows the account.

Each frame has the length of a piece, the CPU time since the last frame in microseconds, and the piece. The proxy
requests frames, so that proxy and object server may have different versions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

_HEAD = struct.Struct("<II")
_MOST = 2**32 - 1


class CpuRecord:
    """Sum of CPU time since the last frame."""

    def __init__(self) -> None:
        self._cpu_ns = 0

    def book(self, cpu_ns: int, waited_ns: int) -> None:  # noqa: ARG002
        """Add CPU time."""
        self._cpu_ns += cpu_ns

    def left_s(self) -> float:
        """Return 0: only the proxy has bounds."""
        return 0.0

    def cores(self) -> float:
        """Return 0: only the proxy has bounds."""
        return 0.0

    def take_us(self) -> int:
        """Return the CPU time since the last call, in microseconds, and start at zero."""
        told_us, self._cpu_ns = divmod(self._cpu_ns, 1000)
        return min(told_us, _MOST)


def frames_of(pieces: Iterable[bytes], told_us: Callable[[], int]) -> Iterator[bytes]:
    """Yield a frame for each piece, and one at the end. told_us: returns the CPU time since its last call."""
    for piece in pieces:
        yield _HEAD.pack(len(piece), told_us()) + piece
    yield _HEAD.pack(0, told_us())


def pieces_of(chunks: Iterable[bytes], took: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the bytes of frames that arrive in chunks of any size. took: is called with nanoseconds of CPU time. A
    truncated stream ends early; its reader notices that.
    """
    head, left = b"", 0
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            if left:
                piece = chunk[at : at + left]
                at, left = at + len(piece), left - len(piece)
                yield piece
                continue
            more = chunk[at : at + _HEAD.size - len(head)]
            head, at = head + more, at + len(more)
            if len(head) == _HEAD.size:
                left, cpu_us = _HEAD.unpack(head)
                head = b""
                took(cpu_us * 1000)
