"""Read text files, which may be compressed."""

from __future__ import annotations

import gzip
from pathlib import Path

from zoe_simulator.jobs import TraceError


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, which may be compressed by gzip; Raises TraceError if it is not text."""
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            return file.read().splitlines()
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise TraceError(f"{path.name} is not a text file: {error}") from None


def trace_name(path: Path) -> str:
    """Return the file's name without its endings."""
    return path.name.split(".")[0]
