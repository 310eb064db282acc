"""Collect what tasks print, line by line, and how they end."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from zoe_job.patterns import fill, per_task
from zoe_job.tasks import RANK

if TYPE_CHECKING:
    from zoe_job.step import Settings

_LINE_BYTES_MAX = 1 << 16


class Collector:
    """Of one step; `take` may be called by several threads."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._parts: dict[tuple[bytes, int], bytearray] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._width = len(str(settings.ntasks - 1))

    def take(self, kind: bytes, data: bytes) -> bool:
        """Take one frame of a node; return whether it says that a task failed."""
        with self._lock:
            if kind == b"x":
                ended = json.loads(data)
                self._codes[ended["rank"]] = ended["code"]
                return self._failed(ended["rank"], ended["code"])
            (rank,) = RANK.unpack_from(data)
            self._print(kind, rank, data[RANK.size :])
            return False

    def finish(self) -> int:
        """Return the largest exit code; 1 for tasks of which nothing was heard."""
        for kind, rank in list(self._parts):
            self._print(kind, rank, b"")
        missing = self._settings.ntasks - len(self._codes)
        if missing:
            print(f"srun: error: {missing} tasks were lost with their node", file=sys.stderr)
        for file in self._files.values():
            file.close()
        return max([*self._codes.values(), 1 if missing else 0])

    def _failed(self, rank: int, code: int) -> bool:
        if code:
            print(f"srun: error: task {rank}: exit code {code}", file=sys.stderr, flush=True)
        return code != 0

    def _print(self, kind: bytes, rank: int, data: bytes) -> None:
        """Print whole lines, so that tasks do not mix theirs; an empty piece ends the stream."""
        part = self._parts.setdefault((kind, rank), bytearray())
        part += data
        end = len(part) if not data or len(part) > _LINE_BYTES_MAX else part.rfind(b"\n") + 1
        text, self._parts[kind, rank] = bytes(part[:end]), part[end:]
        if not text:
            return
        if self._settings.label:
            head = b"%*d: " % (self._width, rank)
            text = b"".join(head + line for line in text.splitlines(keepends=True))
        file = self._file(kind, rank)
        file.write(text)
        file.flush()

    def _file(self, kind: bytes, rank: int) -> IO[bytes]:
        pattern = self._settings.output if kind == b"o" else self._settings.error or self._settings.output
        if pattern is None:
            return sys.stdout.buffer if kind == b"o" else sys.stderr.buffer
        task = rank if per_task(pattern) else None
        name = os.devnull if pattern == "none" else fill(pattern, self._environment, task)
        if name not in self._files:
            self._files[name] = (Path(self._settings.directory) / name).open("ab" if self._settings.append else "wb")
        return self._files[name]
