"""Find when applications were last used, for warnings of idle ones in replays of the journal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionId
from zoe_lib.store.values import JournalEntry


class RecordedUses:
    """The last uses in a replay: each recorded warning appears at its time, and no other does.

    Before the use from which a recorded warning counts, the application may have been used at any time, so the replay
    takes it as used now; after it, there was no use until the warning, nor until an end that followed from it.
    """

    def __init__(self, entries: Iterable[JournalEntry]) -> None:
        self._quiet: dict[ExecutionId, list[tuple[float, float]]] = defaultdict(list)
        for entry in entries:
            execution_id, data = entry.execution_id or "", entry.data
            if entry.kind == ev.IdleWarned.kind:
                self._quiet[execution_id].append((float(str(data["used_at_s"])), entry.at_s))
            elif entry.kind == ev.Stopping.kind and data.get("cause") == Cause.IDLE:
                from_s, _ = self._quiet[execution_id].pop()
                self._quiet[execution_id].append((from_s, entry.at_s))

    def last_uses(self, execution_ids: Sequence[ExecutionId], now_s: float) -> Mapping[ExecutionId, float]:
        """Return the last use of each before now."""
        return {id_: self._last_use(id_, now_s) for id_ in execution_ids}

    def _last_use(self, execution_id: ExecutionId, now_s: float) -> float:
        quiet = self._quiet.get(execution_id, ())
        return next((from_s for from_s, to_s in quiet if from_s <= now_s <= to_s), now_s)
