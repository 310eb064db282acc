"""How much output an engine holds for the copy: at least the bound, whatever the lines are."""

from __future__ import annotations

from typing import Any

ENTRY_BYTES = 25
"""What an entry of the driver `local` takes beside its text, at least; it is 29 at most."""
# An empty line is one byte of output and takes 26 on disk. Eight of the nine files are always there, and hold the bound
# of such lines and a fifth more. Files that are not written any more are compressed.
_FILES = 9
_FILE_BOUNDS = 4


def log_driver(bytes_max: int) -> dict[str, Any]:
    """Return the driver by which at least `bytes_max` of output are held."""
    size = max(_FILE_BOUNDS * bytes_max, 1)
    return {"Name": "local", "Options": {"max-size": str(size), "max-file": str(_FILES), "compress": "true"}}


def held_bytes(bytes_max: int) -> int:
    """What its files hold at least, entries and text, once the oldest was dropped."""
    return (_FILES - 1) * _FILE_BOUNDS * bytes_max
