"""Invariants of the journal: all transitions are legal, and the journal alone yields the state of the master."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zoe_lib.domain.executions.arrays import ArrayEventKind
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import event_of
from zoe_lib.store.values import JournalEntry

_ENTRIES = 1000

_OF_ARRAYS = frozenset(ArrayEventKind)


class Journal:
    """Reads a store's journal and applies every event again, from the submission on."""

    def __init__(self, store: ExecutionStore) -> None:
        self._store = store
        self._read_to = store.last_journal_id()
        self._executions: dict[ExecutionId, Execution] = {e.id: e for e in store.active()}

    def problems(self, known: Iterable[Execution]) -> Iterator[str]:
        """Yield differences between the journal and the master's state, as sentences."""
        while entries := self._store.journal(self._read_to, _ENTRIES):
            for entry in entries:
                yield from self._follow(entry)
            self._read_to = entries[-1].id
        executions = {execution.id: execution for execution in known}
        for execution_id, journalled in list(self._executions.items()):
            if journalled.terminal:
                del self._executions[execution_id]
            elif journalled != executions.pop(execution_id, None):
                yield f"the journal and the master differ on {execution_id}"
        yield from (f"the journal lacks {execution_id}" for execution_id in executions)

    def _follow(self, entry: JournalEntry) -> Iterator[str]:
        if entry.execution_id is None or entry.kind in _OF_ARRAYS:
            return
        before = self._executions.get(entry.execution_id)
        event = event_of(entry.kind, entry.at_s, entry.cause_id, entry.data)
        try:
            self._executions[entry.execution_id] = apply(before or self._fresh(entry.execution_id), event)
        except IllegalTransition as error:
            yield str(error)

    def _fresh(self, execution_id: ExecutionId) -> Execution:
        """Return the execution before its submission, with the fields that no event changes from the store."""
        stored = self._store.execution(execution_id)
        return Execution(
            stored.id,
            stored.name,
            stored.tenant,
            stored.user,
            stored.application,
            stored.submitted_at_s,
            priority=stored.priority,
            deadline_s=stored.deadline_s,
            notes=stored.notes,
        )
