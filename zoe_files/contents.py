"""Byte ranges and entity tags of files (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import os
import re

from zoe_files.refusal import FileRefused

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def tag_of(found: os.stat_result) -> str:
    """Return the entity tag of a file; it changes with the file's times and its size."""
    return f'"{found.st_ino:x}-{found.st_size:x}-{found.st_mtime_ns:x}"'


def requested_range(header: str | None, size: int) -> range | None:
    """Return the requested bytes, if a request has one range; None for the whole file, also if the header is not
    understood.
    """
    match = _RANGE.fullmatch((header or "").strip())
    if match is None or match[0].endswith("=-"):
        return None
    first, last = match[1], match[2]
    if not first:
        begin, end = max(size - int(last), 0), size
    else:
        begin, end = int(first), min(int(last) + 1, size) if last else size
    if begin >= end:
        raise FileRefused(416, "invalid_range", f"the file has {size} bytes")
    return range(begin, end)
