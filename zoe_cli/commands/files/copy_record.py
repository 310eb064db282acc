"""Records of `zoe cp -r`: the target of a directory and its complete files, until the whole of it is copied.

So a repeated command goes on with the first incomplete file, and into the same directory: without the record, the
directory that the first one has made would be a place to copy into.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TextIO

from zoe_client.calls.unfinished import unfinished_file


class CopyRecord:
    """The record of one directory copy. If it cannot be read or written, an interrupted copy begins again.

    key: source, target and server of the command. target: path of the copied directory; an earlier record has its own.
    """

    def __init__(self, key: str, target: str) -> None:
        self._path = unfinished_file().with_name("copies") / hashlib.sha256(key.encode()).hexdigest()
        self.target = target
        self._done: set[str] = set()
        self._file: TextIO | None = None
        self._read()

    @property
    def is_resumed(self) -> bool:
        """Return whether an interrupted copy has completed files."""
        return bool(self._done)

    def is_done(self, path: str, version: str) -> bool:
        """Return whether a file is complete; version: its size and time, so that a changed one is copied again."""
        return self._line(path, version) in self._done

    def add(self, path: str, version: str) -> None:
        """Record a complete file."""
        self._write(self._line(path, version))

    def close(self, complete: bool) -> None:
        """Keep the record for the next try, or remove it if the directory is complete."""
        with suppress(OSError):
            if self._file is not None:
                self._file.close()
            if complete:
                self._path.unlink()

    @staticmethod
    def _line(path: str, version: str) -> str:
        return json.dumps([path, version])

    def _read(self) -> None:
        try:
            first, *lines = self._path.read_text("utf-8").splitlines()
            self.target = str(json.loads(first))
            self._done = set(lines)
        except (OSError, ValueError):
            self._write(json.dumps(self.target))

    def _write(self, line: str) -> None:
        with suppress(OSError):
            if self._file is None:
                self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
                self._file = self._path.open("a", encoding="utf-8", buffering=1)
            self._file.write(f"{line}\n")
