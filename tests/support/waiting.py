"""Waiting for other threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

DEADLINE_S = 60.0
# A check may be a request to another process, or ten to an engine. After a long wait, the result may be seen a little
# later.
_LOOK_S_MIN = 0.02
_LOOK_S_MAX = 0.1
_LATER = 0.05


def pause_s(waited_s: float) -> float:
    """Return the pause before the next check, after this long a wait."""
    return min(max(_LOOK_S_MIN, _LATER * waited_s), _LOOK_S_MAX)


def until(look: Callable[[], T], story: Callable[[], object] = str, deadline_s: float = DEADLINE_S) -> T:
    """Return the first true answer; fail with the story when none comes in time."""
    began_s = time.monotonic()
    while not (answer := look()):
        waited_s = time.monotonic() - began_s
        assert waited_s < deadline_s, f"not within {deadline_s:g} s: {story()}"
        time.sleep(pause_s(waited_s))
    return answer
