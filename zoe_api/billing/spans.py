"""Time ranges of requests, and their resolution."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from zoe_client.wire import SECONDS_MAX

FromS = Annotated[float, Query(ge=0, le=SECONDS_MAX)]
ToS = Annotated[float | None, Query(ge=0, le=SECONDS_MAX)]
_STRETCH_S_MIN = 30.0
_STRETCHES_MAX = 120


def stretch_of(from_s: float, to_s: float) -> float:
    """Return the length of one interval in seconds: a few hundred intervals in total, none shorter than half a
    minute.
    """
    return max(_STRETCH_S_MIN, (to_s - from_s) / _STRETCHES_MAX)
