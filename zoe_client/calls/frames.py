"""The messages between a client and the program in its terminal: one byte that names the kind, then the content.

Each message is one of a WebSocket. Between the API and a terminal's process, its length in four bytes comes first. Both
sides may send `WINDOW` bytes of content that the other has not taken yet, so neither ever has to keep more, and neither
has to stop reading.
"""

from __future__ import annotations

import struct

INPUT, INPUT_END, SIZE, TAKEN = b"i", b"e", b"w", b"a"
"""From the client: input, its end, rows and columns, and how many bytes of output it has taken (also to the client)."""
OUTPUT, ERRORS, EXIT = b"o", b"r", b"x"
"""To the client: standard output, standard error, and as JSON how the program ended."""
REFUSED = 1008
"""The status with which the server closes when it does not allow this, or does not allow it any more."""
WINDOW = 256 * 1024
CONTENT_MAX = 64 * 1024
_LENGTH, _SIZE, _COUNT = struct.Struct("!I"), struct.Struct("!HH"), struct.Struct("!I")
LENGTH_BYTES = _LENGTH.size


class FrameError(Exception):
    """The other side does not keep to the protocol."""


def length_of(data: bytes) -> int:
    """Return the length of the message that follows; FrameError if it is too long."""
    (length,) = _LENGTH.unpack(data)
    if not 1 <= length <= CONTENT_MAX + 1:
        raise FrameError(f"a message of {length} bytes")
    return int(length)


def framed(message: bytes) -> bytes:
    """Return a message with its length."""
    return _LENGTH.pack(len(message)) + message


def next_frame(buffer: bytearray) -> bytes | None:
    """Take the first message out of a buffer; None if it is not complete. FrameError if it is too long."""
    if len(buffer) < _LENGTH.size:
        return None
    end = _LENGTH.size + length_of(bytes(buffer[: _LENGTH.size]))
    if len(buffer) < end:
        return None
    message = bytes(buffer[_LENGTH.size : end])
    del buffer[:end]
    return message


def taken(count: int) -> bytes:
    """Return the message that so many bytes were taken."""
    return TAKEN + _COUNT.pack(count)


def count_of(content: bytes) -> int:
    """Return the number in such a message."""
    return int(_unpacked(_COUNT, content)[0])


def size_of(content: bytes) -> tuple[int, int]:
    """Return rows and columns."""
    rows, columns = _unpacked(_SIZE, content)
    return int(rows), int(columns)


def sized(rows: int, columns: int) -> bytes:
    """Return the message that the window has this size."""
    return SIZE + _SIZE.pack(rows, columns)


def _unpacked(shape: struct.Struct, content: bytes) -> tuple[int, ...]:
    try:
        return shape.unpack(content)
    except struct.error:
        raise FrameError("a message of the wrong length") from None
