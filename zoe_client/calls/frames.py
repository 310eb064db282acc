"""Messages between a client and a program in a terminal: one byte for the kind, then the content.

Each is one message of a WebSocket. Between the API and a terminal's process, its length in four bytes comes first. Each
side may send `WINDOW` bytes of content that the other has not acknowledged, so neither has to buffer more, and neither
has to stop reading.
"""

from __future__ import annotations

import struct

INPUT, INPUT_END, SIZE, TAKEN = b"i", b"e", b"w", b"a"
"""From the client: input, end of input, rows and columns, and acknowledged bytes of output (sent to the client,
too).
"""
OUTPUT, ERRORS, EXIT = b"o", b"r", b"x"
"""To the client: standard output, standard error, and the program's end as JSON."""
REFUSED = 1008
"""WebSocket status for closing a terminal that the user may not open, or may not keep open."""
WINDOW = 256 * 1024
CONTENT_MAX = 64 * 1024
_LENGTH, _SIZE, _COUNT = struct.Struct("!I"), struct.Struct("!HH"), struct.Struct("!I")
LENGTH_BYTES = _LENGTH.size


class FrameError(Exception):
    """The other side violates the protocol."""


def length_of(data: bytes) -> int:
    """Return the length of the message that follows; FrameError if it is too long."""
    (length,) = _LENGTH.unpack(data)
    if not 1 <= length <= CONTENT_MAX + 1:
        raise FrameError(f"the server sent a message of {length} bytes; the maximum is {CONTENT_MAX + 1}")
    return int(length)


def add_length(message: bytes) -> bytes:
    """Return a message with its length in front."""
    return _LENGTH.pack(len(message)) + message


def next_frame(buffer: bytearray) -> bytes | None:
    """Remove the first message from a buffer and return it; None if it is incomplete. FrameError if it is too long."""
    if len(buffer) < _LENGTH.size:
        return None
    end = _LENGTH.size + length_of(bytes(buffer[: _LENGTH.size]))
    if len(buffer) < end:
        return None
    message = bytes(buffer[_LENGTH.size : end])
    del buffer[:end]
    return message


def taken_message(count: int) -> bytes:
    """Return the message that acknowledges so many bytes."""
    return TAKEN + _COUNT.pack(count)


def count_of(content: bytes) -> int:
    """Return the byte count of an acknowledgement."""
    return int(_unpack(_COUNT, content)[0])


def size_of(content: bytes) -> tuple[int, int]:
    """Return rows and columns of a message with the window's size."""
    rows, columns = _unpack(_SIZE, content)
    return int(rows), int(columns)


def size_message(rows: int, columns: int) -> bytes:
    """Return the message with the window's size."""
    return SIZE + _SIZE.pack(rows, columns)


def _unpack(shape: struct.Struct, content: bytes) -> tuple[int, ...]:
    try:
        return shape.unpack(content)
    except struct.error:
        raise FrameError("the server sent a message of the wrong length") from None
