"""Replays whose invariants are checked after every tick."""

from __future__ import annotations

from lab.invariants import Invariants
from zoe_lib.store.base import ExecutionStore
from zoe_simulator.trace import TickCheck


def checking(store: ExecutionStore) -> TickCheck:
    """Return the check for `Replay(check=...)`."""
    return Invariants(store).check
