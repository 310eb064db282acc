"""Write transfers of executions to the journal, once their credentials have ended and the controller has settled them.

Level-triggered: the controller reports a credential until the master lets it forget it, after journalling. The
execution knows which credentials its journal has, so a master that dies in between writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage_bridge.model import EndedTransfers
from zoe_lib.domain.executions.events import StorageTransferred
from zoe_lib.domain.executions.execution import TERMINAL_STATES, Execution
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.values import ExecutionChange
from zoe_master.state.crash_points import CrashPoint, Hit
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

_MOST_IN_A_TICK = 100


class TransferJournal:
    """Journals the transfers that a controller reports."""

    def __init__(self, cache: StateCache, hit: Hit) -> None:
        self._cache = cache
        self._hit = hit
        self.written: frozenset[int] = frozenset()
        """Generations that the controller may forget."""

    def write(self, ended: Sequence[EndedTransfers], tick: TickContext) -> None:
        """Write new transfers, for at most this many credentials; the next tick continues."""
        self.written &= frozenset(transfers.generation for transfers in ended)
        fresh = [transfers for transfers in ended if transfers.generation not in self.written][:_MOST_IN_A_TICK]
        if not fresh:
            return
        stored = self._cache.stored_executions({transfers.execution for transfers in fresh})
        # For an execution that is unknown, because it was removed, nothing is written, and the controller may forget.
        done = {transfers.generation for transfers in fresh if _is_done(transfers, stored.get(transfers.execution))}
        changes: dict[str, tuple[EndedTransfers, ExecutionChange]] = {}
        for transfers in sorted(fresh, key=lambda each: each.generation):
            if transfers.generation in done or transfers.execution in changes:
                continue  # one event of an execution in a set; the next tick writes the others
            execution = stored[transfers.execution]
            change = self._cache.change(execution, [_event(transfers, execution, tick)])
            if change is not None:
                changes[transfers.execution] = transfers, change
        written = self._cache.append_all([change for _, change in changes.values()])
        if written:
            self._hit(CrashPoint.STORAGE_TOLD)
        done |= {transfers.generation for execution, (transfers, _) in changes.items() if execution in written}
        self.written |= done


def _is_done(one: EndedTransfers, execution: Execution | None) -> bool:
    if execution is None or one.totals is None:
        return True
    return execution.transfers is not None and execution.transfers.generation >= one.generation


def _event(one: EndedTransfers, execution: Execution, tick: TickContext) -> StorageTransferred:
    assert one.totals is not None
    return StorageTransferred(
        at_s=tick.now_s,
        cause_id=tick.plan_id,
        attempt=_attempt_of(execution),
        transfers=StoreTransfers(
            one.generation,
            one.totals.read_bytes,
            one.totals.written_bytes,
            one.totals.transferring_s,
            one.totals.waiting_s,
            one.whole,
            tick.now_s,
        ),
    )


def _attempt_of(execution: Execution) -> int:
    """Return the newest attempt that can have had a credential that has ended."""
    if execution.state in TERMINAL_STATES:
        return execution.attempt
    return max(execution.attempt - 1, 1)
