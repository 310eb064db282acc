"""Pace bodies by the rates of a table (`rate_table.py`)."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from eventlet import sleep

from storage_filters.counting.rate_table import Direction, RateTable

PIECE_BYTES = 64 * 1024
"""Bytes that are counted, and wait, at a time."""
AHEAD_BYTES = 256 * 1024
"""Most bytes of a body that the kernel buffers before they are counted; by default it buffers megabytes, and then
nothing for long.
"""
_LOOK_S = 0.25  # how soon a piece that waits at an old rate notices a new one
_PIECES_A_TURN = (1, 2, 3)


class Counted(Protocol):
    """Receives the progress of a body."""

    def count_piece(self, direction: Direction, length: int) -> None:
        """Count a piece."""
        ...

    def begin_wait(self) -> None:
        """Note that the client begins to wait for the next piece."""
        ...


class Uncounted:
    """A counter that ignores everything."""

    def count_piece(self, direction: Direction, length: int) -> None:
        """Do nothing."""

    def begin_wait(self) -> None:
        """Do nothing."""


def pace_piece(
    table: RateTable,
    name: str,
    direction: Direction,
    length: int,
    its_turn: bool = True,
    waits: Callable[[], object] = lambda: None,
) -> bool:
    """Count a piece and wait for its turn. A piece with `its_turn` false is counted only, and the next one waits for
    both. waits: is called if the piece has to wait. Return whether there is a limit.
    """
    turn = table.turn(name, direction, length, time.monotonic())
    held, left_s = turn.rate > 0, turn.wait_s
    if its_turn and left_s > 0:
        waits()
    while its_turn and left_s > 0:
        sleep(min(left_s, _LOOK_S))
        left_s = table.left_s(name, direction, turn.place, time.monotonic())
    return held


class PacedInput:
    """A request's body, read at the pace of its account.

    Each body waits before every first, second or third piece, at random: bodies of one account that advance in step
    would end at once, and then all of them would wait for the disks. For a limited body the kernel buffers little: the
    sent and the counted bytes differ by a few pieces.

    server_input: the server's own stream, which knows the connection, if it is there. wait: takes the length of a piece
    and whether it waits; returns whether there is a limit. see: is called with the bytes read.
    """

    def __init__(
        self,
        stream: Any,
        server_input: Any,
        wait: Callable[[int, bool], bool],
        counted: Counted,
        ahead_bytes: int = AHEAD_BYTES,
        see: Callable[[bytes], object] = lambda _: None,
    ) -> None:
        self._counted = counted
        self._stream = stream
        self._server_input = server_input
        self._wait = wait
        self._ahead_bytes = ahead_bytes
        self._see = see
        self._every = random.choice(_PIECES_A_TURN)
        self._pieces = 0

    def read(self, *arguments: Any, **more: Any) -> bytes:
        """Read like the stream."""
        return self._read_paced(lambda: self._stream.read(*arguments, **more))

    def readline(self, *arguments: Any, **more: Any) -> bytes:
        """Read a line like the stream."""
        return self._read_paced(lambda: self._stream.readline(*arguments, **more))

    def __iter__(self) -> Iterator[bytes]:
        lines = iter(self._stream)
        while line := self._read_paced(lambda: next(lines, b"")):
            yield line

    def __getattr__(self, name: str) -> Any:
        # Swift uses other methods of the server's stream, such as for answers to `Expect: 100-continue`.
        return getattr(self._stream, name)

    def _read_paced(self, read: Callable[[], bytes]) -> bytes:
        self._counted.count_piece("put", 0)  # until now, the store was busy with the bytes that it has
        data = read()
        self._see(data)
        self._counted.begin_wait()
        for start in range(0, len(data), PIECE_BYTES):
            self._pieces += 1
            length = min(PIECE_BYTES, len(data) - start)
            held = self._wait(length, self._pieces % self._every == 0)
            self._counted.count_piece("put", length)
            if held and self._server_input is not None:
                self._server_input.get_socket().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._ahead_bytes)
                self._server_input = None
        return data
