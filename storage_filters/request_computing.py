"""What is computed for a request: the filter of bandwidth counts it, and other filters find it here.

Its place in the environment is one that Swift hands on to the requests that its own filters make, such as those of
segments.
"""

from __future__ import annotations

from typing import Any

from eventlet import sleep

from storage_filters.computing import Computing, Spending

_SHARED, _NAME = "swift.infocache", "zoe.computing"
_UNCOUNTED = Computing(None, sleep)


def attached(env: dict[str, Any], spending: Spending) -> Computing:
    """Count what is computed for a request."""
    made = Computing(spending, sleep)
    env.setdefault(_SHARED, {})[_NAME] = made
    return made


def computing_of(env: dict[str, Any]) -> Computing:
    """Return what is computed for a request; it is not counted where no filter of bandwidth is."""
    found = env.get(_SHARED, {}).get(_NAME)
    return found if isinstance(found, Computing) else _UNCOUNTED
