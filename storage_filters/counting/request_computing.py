"""What is computed for a request, and for which execution: the filter of bandwidth notes it, and others find it here.

Its place in the environment is one that Swift hands on to the requests that its own filters make, such as those of
segments.
"""

from __future__ import annotations

from typing import Any

from eventlet import sleep

from storage_filters.counting.computing import Computing, Spending

_SHARED, _NAME, _EXECUTION = "swift.infocache", "zoe.computing", "zoe.execution"
_UNCOUNTED = Computing(None, sleep)


def attached(env: dict[str, Any], spending: Spending) -> Computing:
    """Count what is computed for a request."""
    made = Computing(spending, sleep)
    env.setdefault(_SHARED, {})[_NAME] = made
    return made


def attached_once(env: dict[str, Any], spending: Spending) -> Computing:
    """Return what is computed for a request; count it so if nobody does yet."""
    found = computing_of(env)
    return attached(env, spending) if found is _UNCOUNTED else found


def computing_of(env: dict[str, Any]) -> Computing:
    """Return what is computed for a request; it is not counted where no filter of bandwidth is."""
    found = env.get(_SHARED, {}).get(_NAME)
    return found if isinstance(found, Computing) else _UNCOUNTED


def of_execution(env: dict[str, Any], execution: str) -> None:
    """Note which execution makes a request; empty for other users."""
    env.setdefault(_SHARED, {})[_EXECUTION] = execution


def noted_execution(env: dict[str, Any]) -> str:
    """Return the execution that makes a request, also one that Swift's own filters made for it; empty for others."""
    return str(env.get(_SHARED, {}).get(_EXECUTION, ""))
