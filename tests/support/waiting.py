"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

DEADLINE_S = 60.0
_LOOK_S = 0.02


def until(look: Callable[[], T], story: Callable[[], object] = str, deadline_s: float = DEADLINE_S) -> T:
    """The first answer that is true; fails with the story when none comes in time."""
    end_s = time.monotonic() + deadline_s
    while not (answer := look()):
        assert time.monotonic() < end_s, f"not within {deadline_s:g} s: {story()}"
        time.sleep(_LOOK_S)
    return answer
