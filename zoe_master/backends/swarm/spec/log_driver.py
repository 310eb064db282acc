"""How much output an engine holds for the copy: at least the bound, whatever the lines are."""

from __future__ import annotations

from typing import Any

ENTRY_BYTES = 25
"""What an entry of the driver `local` takes besides its text, at least; at most it is 29."""
# An empty line is one byte of output and takes 26 on disk. Eight of the nine files always exist, and hold the bound of
# such lines and a fifth more. Files that are no longer written to are compressed.
_FILES = 9
_FILE_BOUNDS = 4


def log_driver(bytes_max: int) -> dict[str, Any]:
    """Return the driver that holds at least `bytes_max` of output."""
    size = max(_FILE_BOUNDS * bytes_max, 1)
    return {"Name": "local", "Options": {"max-size": str(size), "max-file": str(_FILES), "compress": "true"}}


def held_bytes(bytes_max: int) -> int:
    """Return what its files hold at least, entries and text, after the oldest was dropped."""
    return (_FILES - 1) * _FILE_BOUNDS * bytes_max
