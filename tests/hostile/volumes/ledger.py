"""What a volume must hold after a kill, by what its writer tried and what was flushed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.hostile.volumes.writer import BLOCK, RECORD, number_of


@dataclass
class Ledger:
    """The newest number tried and flushed, by kind and key; the numbers of flushed records of the log, in order."""

    tried: dict[tuple[str, int], int] = field(default_factory=dict)
    flushed: dict[tuple[str, int], int] = field(default_factory=dict)
    log: list[int] = field(default_factory=list)
    newest: int = 0
    torn: int = 0

    def note(self, line: str) -> None:
        """Read a whole line of the writer."""
        word, *rest = line.split()
        if word not in ("try", "done"):
            return
        kind, key, number = rest[0], int(rest[1]), int(rest[2])
        self.newest = max(self.newest, number)
        (self.tried if word == "try" else self.flushed)[kind, key] = number
        if word == "done" and kind == "log":
            self.log.append(number)

    def wrong(self, directory: Path) -> Iterator[str]:
        """Yield what is missing or damaged though it was flushed; count torn records that were not, and accept what
        there is as the new state.
        """
        yield from self._wrong_log(directory / "log")
        for (kind, key), last in self.tried.items():
            flushed = self.flushed.get((kind, key))
            if kind == "log":
                continue
            found = number_of(_data(directory, kind, key), kind, key)
            if found is None and kind == "block" and last != flushed:
                self.torn += 1
                continue
            if flushed is not None and (found is None or found < flushed):
                yield f"{kind} {key}: {found} is there, {flushed} was flushed"
            if found is not None and found > last:
                yield f"{kind} {key}: {found} is there, which was never written"
            if found is not None:
                self.tried[kind, key] = self.flushed[kind, key] = found

    def _wrong_log(self, path: Path) -> Iterator[str]:
        data = path.read_bytes() if path.exists() else b""
        found = [number_of(data[at : at + RECORD], "log", 0) for at in range(0, len(data), RECORD)]
        if found[: len(self.log)] != self.log:
            yield f"log: {found[: len(self.log)]} is there, {self.log} was flushed"
        rest = found[len(self.log) :]
        self.torn += rest.count(None)
        # What follows was not acknowledged; the next writer appends after it, so it has to end with whole records.
        whole = [number for number in found if number is not None]
        if path.exists() and (None in rest or len(data) % RECORD):
            path.write_bytes(data[: RECORD * (len(self.log) + (rest.index(None) if None in rest else 0))])
            whole = whole[: path.stat().st_size // RECORD]
        self.log = whole


def _data(directory: Path, kind: str, key: int) -> bytes:
    try:
        if kind == "file":
            return (directory / f"file-{key}").read_bytes()
        with (directory / "blocks").open("rb") as file:
            file.seek(key * BLOCK)
            return file.read(BLOCK)
    except FileNotFoundError:
        return b""
