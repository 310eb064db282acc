"""Copy standard input into files of bounded size: `rotating.py FILE BYTES FILES`. Standard library only, and without
pathlib, whose import takes longer than the rest of its start.

It runs as a separate process beside each started program, which may write at any time, and may outlive its parent. It
ends when no process with the pipe is left.
"""

from __future__ import annotations

import contextlib
import os
import sys

_READ_BYTES = 65536


class RotatingFile:
    """Appends to FILE; output beyond the bound begins a new file, and FILE.1 is the previous one, and so on."""

    def __init__(self, path: str, bytes_max: int, files_max: int) -> None:
        self._path = path
        self._bytes_max = bytes_max
        self._files_max = files_max
        self._file = -1

    def write(self, data: bytes) -> None:
        """Write as far as possible: a full disk must cost only logs."""
        for begin in range(0, len(data), self._bytes_max):
            piece = data[begin : begin + self._bytes_max]
            with contextlib.suppress(OSError):
                self._make_room(len(piece))
                os.write(self._file, piece)

    def _make_room(self, wanted: int) -> None:
        self._open()
        if os.fstat(self._file).st_size + wanted > self._bytes_max:
            self._rotate()
            self._open()

    def _open(self) -> None:
        """Open the present file, also after another program has moved or removed it."""
        if self._file >= 0:
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file), os.lstat(self._path)):
                    return
            os.close(self._file)
            self._file = -1
        # A less privileged account may own the directory, and could put a link there.
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)

    def _rotate(self) -> None:
        for number in range(self._files_max - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                os.replace(self._older(number - 1), self._older(number))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # there is no older file to keep

    def _older(self, number: int) -> str:
        return f"{self._path}.{number}" if number else self._path


def main() -> None:
    """Continue in a separate process, so that the caller need not wait; then copy until the end."""
    if os.fork():
        os._exit(0)
    os.setsid()
    path, bytes_max, files_max = sys.argv[1:]
    log = RotatingFile(path, int(bytes_max), int(files_max))
    while data := os.read(sys.stdin.fileno(), _READ_BYTES):
        log.write(data)


if __name__ == "__main__":
    main()
