"""CPU time and execution of a request, noted by the bandwidth filter in its environment for the other filters.

Swift copies this part of the environment to the subrequests that its filters make, such as those for segments.
"""

from __future__ import annotations

from typing import Any

from eventlet import sleep

from storage_filters.counting.computing import Computing, Spending

_SHARED, _NAME, _EXECUTION = "swift.infocache", "zoe.computing", "zoe.execution"
_UNCOUNTED = Computing(None, sleep)


def attach_computing(env: dict[str, Any], spending: Spending) -> Computing:
    """Attach a new computing to a request and return it."""
    made = Computing(spending, sleep)
    env.setdefault(_SHARED, {})[_NAME] = made
    return made


def computing_or_new(env: dict[str, Any], spending: Spending) -> Computing:
    """Return the computing of a request; attach one if there is none."""
    found = computing_of(env)
    return attach_computing(env, spending) if found is _UNCOUNTED else found


def computing_of(env: dict[str, Any]) -> Computing:
    """Return the computing of a request; without a bandwidth filter, one that counts nothing."""
    found = env.get(_SHARED, {}).get(_NAME)
    return found if isinstance(found, Computing) else _UNCOUNTED


def note_execution(env: dict[str, Any], execution: str) -> None:
    """Note the execution that makes a request; empty for other users."""
    env.setdefault(_SHARED, {})[_EXECUTION] = execution


def noted_execution(env: dict[str, Any]) -> str:
    """Return the execution that makes a request, or for which Swift's filters made it; empty for other users."""
    return str(env.get(_SHARED, {}).get(_EXECUTION, ""))
