"""Send many small files with one request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoe_client.errors import ZoeError

TREE_BYTES_MAX = 64 << 20
"""Contents of one request. The server takes 80 MiB with the lines between them, and 10,000 files."""
TREE_FILES_MAX = 5000
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file to write at a path below the directory of the request: a local one, a directory, or a second name of
    `link` there.

    `mode`: its permissions, without those that the user's umask withholds. `sha256`: refused if the bytes differ.
    """

    path: str
    source: Path | None = None
    size: int = 0
    link: str | None = None
    directory: bool = False
    mode: int | None = None
    sha256: str | None = None

    def line(self) -> bytes:
        """Return the line that announces the file."""
        said: dict[str, Any] = {"path": self.path}
        if self.directory:
            said["directory"] = True
        else:
            said |= {"size": self.size} if self.link is None else {"link": self.link}
        said |= {} if self.mode is None else {"mode": self.mode}
        said |= {} if self.sha256 is None else {"sha256": self.sha256}
        return json.dumps(said).encode() + b"\n"


def body_length(files: Sequence[TreeFile]) -> int:
    """Return the bytes of the request."""
    return sum(len(file.line()) + (file.size if file.link is None else 0) for file in files)


def body_of(files: Sequence[TreeFile], sent: Callable[[int], None]) -> Iterator[bytes]:
    """Yield the request, and tell the bytes of contents sent so far; ZoeError if a file has become shorter."""
    done = 0
    for file in files:
        yield file.line()
        if file.source is not None:
            for piece in _content(file.source, file.size):
                yield piece
                done += len(piece)
                sent(done)


def _content(source: Path, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of a file: what is appended meanwhile belongs to the next copy."""
    with source.open("rb") as stream:
        while size:
            piece = stream.read(min(size, _PIECE_BYTES))
            if not piece:
                raise ZoeError(f"{source} became shorter while it was sent")
            size -= len(piece)
            yield piece
