"""Collect the output of tasks, line by line, and their exit codes."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from zoe_job.common.patterns import fill, per_task
from zoe_job.common.slurm_options import BadOptionError
from zoe_job.steps.tasks import RANK

if TYPE_CHECKING:
    from zoe_job.steps.shares import Share

_LINE_BYTES_MAX = 1 << 16
_OPEN_MAX = 256


class Collector:
    """Collector of one part of a step; several threads may call `take`."""

    def __init__(self, share: Share) -> None:
        self._settings = share.settings
        self._environment = share.environment
        self._ranks = share.ranks
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._parts: dict[tuple[bytes, int], bytearray] = {}
        self._files: OrderedDict[str, IO[bytes]] = OrderedDict()
        self._failures: set[str] = set()
        self.missing: dict[str, None] = {}
        """Calls of tasks on other nodes that do not exist here."""
        self._width = len(str(share.ntasks - 1))
        self._begin_files()

    def _begin_files(self) -> None:
        """Create all files of output, empty unless they are appended to, before anything runs. Raises
        BadOptionError.
        """
        for kind in (b"o", b"e"):
            pattern = self._pattern(kind)
            if pattern is None or pattern == "none":
                continue
            for rank in self._ranks if per_task(pattern) else self._ranks[:1]:
                name = self._name(pattern, rank)
                try:
                    (Path(self._settings.directory) / name).open("ab" if self._settings.append else "wb").close()
                except OSError as error:
                    raise BadOptionError(f"cannot open {name}: {error.strerror}") from None

    def take(self, kind: bytes, data: bytes) -> bool:
        """Process one frame of a node; return whether it reports a failed task."""
        with self._lock:
            if kind == b"x":
                ended = json.loads(data)
                self._codes[ended["rank"]] = ended["code"]
                self.missing.update(dict.fromkeys(ended.get("missing", ())))
                return self._note_exit(ended["rank"], ended["code"])
            (rank,) = RANK.unpack_from(data)
            self._print(kind, rank, data[RANK.size :])
            return False

    def finish(self) -> int:
        """Return the largest exit code; 1 for tasks without a report."""
        for kind, rank in list(self._parts):
            self._print(kind, rank, b"")
        missing = len(self._ranks) - len(self._codes)
        if missing:
            print(f"srun: error: {missing} tasks were lost with their node", file=sys.stderr)
        for name, file in self._files.items():
            with self._reporting_once(name):
                file.close()
        return max([*self._codes.values(), 1 if missing or self._failures else 0])

    def _note_exit(self, rank: int, code: int) -> bool:
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
        pattern = self._pattern(kind)
        if pattern is None:
            own = sys.stdout.buffer if kind == b"o" else sys.stderr.buffer
            own.write(text)
            own.flush()
            return
        name = self._name(pattern, rank)
        with self._reporting_once(name):
            file = self._file(name)
            file.write(text)
            file.flush()

    @contextmanager
    def _reporting_once(self, name: str) -> Iterator[None]:
        """Report once that a file cannot be written; the tasks continue."""
        try:
            yield
        except OSError as error:
            if name not in self._failures:
                print(f"srun: error: {name}: {error.strerror}", file=sys.stderr, flush=True)
            self._failures.add(name)

    def _pattern(self, kind: bytes) -> str | None:
        return self._settings.output if kind == b"o" else self._settings.error or self._settings.output

    def _name(self, pattern: str, rank: int) -> str:
        if pattern == "none":
            return os.devnull
        return fill(pattern, self._environment, rank if per_task(pattern) else None)

    def _file(self, name: str) -> IO[bytes]:
        """Return an open file; of many, the last written ones stay open."""
        if name in self._files:
            self._files.move_to_end(name)
            return self._files[name]
        if len(self._files) >= _OPEN_MAX:
            self._files.popitem(last=False)[1].close()
        self._files[name] = (Path(self._settings.directory) / name).open("ab")
        return self._files[name]
