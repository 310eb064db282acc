"""Capacity of an engine's log for the copy: at least the output limit, whatever the lines are."""

from __future__ import annotations

from typing import Any

ENTRY_BYTES = 25
"""Minimum overhead of an entry of the driver `local`; the maximum is 29."""
# An empty line is one byte of output and takes 26 on disk. Eight of the nine files always exist, and can store the
# limit of such lines and a fifth more. Closed files are compressed.
_FILES = 9
_FILE_BOUNDS = 4


def log_driver(bytes_max: int) -> dict[str, Any]:
    """Return the driver that holds at least `bytes_max` of output."""
    size = max(_FILE_BOUNDS * bytes_max, 1)
    return {"Name": "local", "Options": {"max-size": str(size), "max-file": str(_FILES), "compress": "true"}}


def held_bytes(bytes_max: int) -> int:
    """Return the minimum that its files hold, entries and text, after the oldest was dropped."""
    return (_FILES - 1) * _FILE_BOUNDS * bytes_max
