"""The component's output, kept within a limit: the beginning and the newest, at absolute offsets."""

from __future__ import annotations

import contextlib
import os

# A quarter for the beginning (with errors of the start), an eighth for each piece of the newest.
HEAD_SHARE = 4
PIECE_SHARE = 8
BOUND_BYTES_MIN = 1024


class BoundedOutput:
    """Pieces in files named by the offset of their first byte. Bytes that cannot be written are dropped and counted."""

    def __init__(self, directory: str, bound_bytes: int) -> None:
        bound_bytes = max(bound_bytes, BOUND_BYTES_MIN)
        self._directory = directory
        self._head_bytes = bound_bytes // HEAD_SHARE
        self._piece_bytes = bound_bytes // PIECE_SHARE
        self._pieces_max = (bound_bytes - self._head_bytes) // self._piece_bytes
        self._pieces: list[int] = []
        self._descriptor: int | None = None
        self._room_bytes = 0
        self.offset = 0
        self.dropped_bytes = 0

    def write(self, data: bytes) -> None:
        """Append; never raises."""
        while data:
            try:
                written = self._write_some(data)
            except OSError:
                self._close_piece()
                if self.free_space():
                    continue
                self.dropped_bytes += len(data)
                written = len(data)
            self.offset += written
            self._room_bytes -= written
            data = data[written:]

    def free_space(self) -> bool:
        """Remove the oldest complete piece of the newest output; return False if there is none."""
        finished = self._pieces[:-1] if self._descriptor is not None else self._pieces
        if not finished:
            return False
        self._remove(finished[0])
        return True

    def close(self) -> None:
        """Finish: no more output follows."""
        self._close_piece()

    def _write_some(self, data: bytes) -> int:
        if self._descriptor is None or self._room_bytes <= 0:
            self._next_piece()
        assert self._descriptor is not None
        return os.write(self._descriptor, data[: self._room_bytes])

    def _next_piece(self) -> None:
        self._close_piece()
        while len(self._pieces) >= self._pieces_max:
            self._remove(self._pieces[0])
        path = self._path(self.offset)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._room_bytes = self._head_bytes if self.offset == 0 else self._piece_bytes
        if self.offset > 0:
            self._pieces.append(self.offset)

    def _close_piece(self) -> None:
        """Close the present piece and remove it if empty: its name is needed when writing works again at the same
        offset.
        """
        if self._descriptor is None:
            return
        empty = os.fstat(self._descriptor).st_size == 0
        os.close(self._descriptor)
        self._descriptor = None
        if not empty:
            return
        if self._pieces and self._pieces[-1] == self.offset:
            self._remove(self.offset)
        else:
            with contextlib.suppress(OSError):
                os.unlink(self._path(self.offset))

    def _remove(self, piece: int) -> None:
        self._pieces.remove(piece)
        with contextlib.suppress(OSError):
            os.unlink(self._path(piece))

    def _path(self, offset: int) -> str:
        return f"{self._directory}/{offset:020d}"
