"""Words of the filters by state of all lists: the states of executions, and words for several of them."""

from __future__ import annotations

from collections.abc import Iterable

from zoe_client.vocabulary import ACTIVE_STATES, TERMINAL_STATES, ExecutionState, TextEnum


class StateChoice(TextEnum):
    """A state of executions, or a word for several."""

    WAITING = "waiting"
    """It has not started: submitted or queued."""
    PENDING = "pending"
    """As `waiting`: the word of Slurm."""
    HELD = "held"
    """It waits until it is released."""
    ACTIVE = "active"
    """It has places on nodes: starting, running or stopping."""
    ENDED = "ended"
    """It succeeded, failed or was cancelled."""
    SUBMITTED = "submitted"
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


_WAITING = frozenset({ExecutionState.SUBMITTED, ExecutionState.QUEUED})
_SEVERAL = {
    StateChoice.WAITING: _WAITING,
    StateChoice.PENDING: _WAITING,
    StateChoice.ACTIVE: ACTIVE_STATES,
    StateChoice.ENDED: TERMINAL_STATES,
}


def states_of(choices: Iterable[str]) -> frozenset[ExecutionState]:
    """Return the states that these words name. `held` names none: only some of the waiting executions are held."""
    found: set[ExecutionState] = set()
    for choice in map(StateChoice, choices):
        if choice is not StateChoice.HELD:
            found |= _SEVERAL.get(choice) or {ExecutionState(choice.value)}
    return frozenset(found)


def matches_state(choices: Iterable[str], state: str, *, held: bool) -> bool:
    """Return whether an execution or array in this state is among those that these words name."""
    chosen = frozenset(choices)
    return state in states_of(chosen) or (held and StateChoice.HELD in chosen and state in _WAITING)
