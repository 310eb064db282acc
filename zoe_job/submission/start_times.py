"""Begin times and deadlines, as parsed by `values.py`, in the form of the API."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_AFTER = re.compile(r"\+(\d{1,7})([smhdw])")
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def after_s(text: str) -> float | None:
    """Return the seconds of `+3h`; None for other times."""
    found = _AFTER.fullmatch(text)
    return None if found is None else float(int(found[1]) * _UNITS_S[found[2]])


def at_s(text: str, now: datetime | None = None) -> float:
    """Return seconds since the epoch of `16:00`, the next one in the zone of this machine, or of a date. Raises
    ValueError.
    """
    present = datetime.now() if now is None else now  # noqa: DTZ005 - local, as the text is
    if found := _CLOCK.fullmatch(text):
        wanted = present.replace(hour=int(found[1]), minute=int(found[2]), second=int(found[3] or 0), microsecond=0)
        return (wanted if wanted > present else wanted + timedelta(days=1)).timestamp()
    return datetime.fromisoformat(text).timestamp()


def begin_fields(text: str | None) -> dict[str, float]:
    """Return the fields of a submission with this begin time. Raises ValueError."""
    if text is None:
        return {}
    seconds = after_s(text)
    return {"begin_at_s": at_s(text)} if seconds is None else {"begin_in_s": seconds}


def deadline_fields(text: str | None) -> dict[str, str]:
    """Return the fields of a submission with this deadline. Raises ValueError."""
    if text is None:
        return {}
    return {"deadline": text if after_s(text) is not None else datetime.fromtimestamp(at_s(text), UTC).isoformat()}
