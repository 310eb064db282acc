"""What a person sees of an installation: its content, size, place, progress and time."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

GROWTH = "ZOE_INSTALL_GROWTH"
"""Set for an installation whose progress a program reads: it then tells its size from time to time."""
_GROWTH_S = 2.0


@contextmanager
def announced(what: str, size_mb: int, directory: Path) -> Iterator[None]:
    """Print name, place and size of an installation, and its duration in the end."""
    print(f"[installing {what}, about {size_mb} MB, into {directory}; once for all clones]", flush=True)
    began_s, done = time.monotonic(), threading.Event()
    if os.environ.get(GROWTH):
        before_mb = _size_mb(directory)  # another installation may have left files there

        def growth() -> int:
            return _size_mb(directory) - before_mb

        threading.Thread(target=_tell_growth, args=(what, size_mb, growth, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()
    print(f"[installed {what} in {time.monotonic() - began_s:.0f} s]", flush=True)


def quiet_option() -> tuple[str, ...]:
    """Return the option that hides the progress of pip and uv, unless a person watches it on a terminal."""
    return () if sys.stderr.isatty() else ("-q",)


def _tell_growth(what: str, size_mb: int, growth: Callable[[], int], done: threading.Event) -> None:
    """Print how much of the expected size is there."""
    while not done.wait(_GROWTH_S):
        there_mb = min(growth(), size_mb)
        print(f"[installing {what}: {there_mb} of about {size_mb} MB, {100 * there_mb // size_mb} %]", flush=True)


def _size_mb(directory: Path) -> int:
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += Path(place, name).lstat().st_size
    return total >> 20
