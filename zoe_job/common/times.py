"""Times as Slurm writes them."""

from __future__ import annotations

import re

_TIME = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,4}))?(?::(\d{1,4}))?")


def seconds(text: str) -> float | None:
    """Return seconds of `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`; None
    for no limit. As in Slurm, they are rounded up to whole minutes. Raises ValueError.
    """
    text = text.strip()
    if text.upper() in ("UNLIMITED", "INFINITE", "-1", "0"):
        return None
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError("not a time; use minutes, hours:minutes:seconds or days-hours")
    days, first, second, third = (int(part) if part else None for part in found.groups())
    if days is not None or third is not None:
        hours, minutes, rest = first, second, third
    else:
        hours, minutes, rest = 0, first, second
    total = ((days or 0) * 24 + (hours or 0)) * 3600 + (minutes or 0) * 60 + (rest or 0)
    return 60.0 * -(-total // 60) if total else None
