"""Retention of forgotten services' output: the newest, up to a total size and an age."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Minimum size of a service: small files cost their blocks, names, and the time to walk through them.
BYTES_MIN = 1 << 16


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """When a service ended or was forgotten, and the size of its directory."""

    at_s: float
    bytes: int


def outputs_to_remove(kept: Mapping[str, KeptOutput], bytes_max: int, oldest_s: float) -> Sequence[str]:
    """Return the names of outputs that are too old, and of the oldest beyond the total size."""
    left, gone = bytes_max, []
    for name, log in sorted(kept.items(), key=lambda item: item[1].at_s, reverse=True):
        left -= log.bytes
        if left < 0 or log.at_s < oldest_s:
            gone.append(name)
    return gone


def bytes_of(directory: Path) -> int:
    """Return the total size of the files below a directory; files that vanish meanwhile do not count."""
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(parent, name).lstat().st_size
    return max(total, BYTES_MIN)
