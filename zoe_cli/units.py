"""Format times and sizes for people."""

from __future__ import annotations

import time

from zoe_client.words.amounts import count_with_noun, plain, size

_KILO, _MEGA = 1e3, 1e6
__all__ = ["clock", "count_with_noun", "duration", "rate", "size"]


def duration(seconds: float) -> str:
    """Return seconds as 4.2s, 3m05s, 2h10m or 5d03h."""
    seconds = max(seconds, 0.0)
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours < 48 else f"{hours // 24}d{hours % 24:02}h"


def rate(bytes_per_s: float) -> str:
    """Return bytes per second in MB/s, the unit of descriptions and storage controllers; small rates in kB/s or B/s."""
    whole = round(bytes_per_s)
    if whole == 0 or whole >= _MEGA - _KILO / 2:  # it would be shown as 1000 kB/s
        return f"{plain(bytes_per_s / _MEGA)} MB/s"
    return f"{plain(bytes_per_s / _KILO)} kB/s" if whole >= _KILO else f"{plain(whole)} B/s"


def megabytes(amount: int) -> str:
    """Return bytes in MB, to match rates in MB/s."""
    return f"{plain(amount / 1e6)} MB"


def clock(at_s: float) -> str:
    """Return a time since the epoch in this machine's time zone."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
    except (OverflowError, OSError, ValueError):
        return f"{at_s:.0f}"
