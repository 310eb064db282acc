"""What a person sees of an installation: its content, size, place, progress and time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def announced(what: str, size_mb: int, directory: Path) -> Iterator[None]:
    """Print what is installed, where, and how much it takes; at the end how long it took."""
    print(f"[installing {what}, about {size_mb} MB, into {directory}; once for all clones]", flush=True)
    began_s = time.monotonic()
    yield
    print(f"[installed {what} in {time.monotonic() - began_s:.0f} s]", flush=True)


def quiet_option() -> tuple[str, ...]:
    """Return the option that hides the progress of pip and uv, unless a person watches it on a terminal."""
    return () if sys.stderr.isatty() else ("-q",)
