"""The newest entries of the journal, read once for all streams of the process."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from zoe_lib.domain.applications.sharing import ExecutionShares, Visibility
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store.values import JournalEntry

# Some seconds of a busy master, a few MiB. A stream that falls further behind reads the journal itself.
ENTRIES_MAX = 2000

Key = tuple[int, bool]
SharesById = Mapping[ExecutionId, ExecutionShares]


class RecentJournal:
    """All entries from one id on, and their texts as sent. For one thread."""

    def __init__(self) -> None:
        self._entries: list[JournalEntry] = []
        self._texts: dict[Key, bytes] = {}
        self._shares: dict[ExecutionId, ExecutionShares] = {}
        self._from_id: int | None = None
        self.to_id: int | None = None
        """Entries up to this id are present or precede the first; None: none are known."""

    def begin(self, at_id: int | None) -> None:
        """Forget all entries; begin after an id, or with none known."""
        self._entries, self._texts, self._shares = [], {}, {}
        self._from_id = self.to_id = at_id

    def add(self, entries: Sequence[JournalEntry], shares: SharesById) -> None:
        """Add the next entries of the journal, with the users who may see their executions."""
        if not entries:
            return
        self._shares.update(shares)
        self._entries += entries
        self.to_id = entries[-1].id
        surplus = len(self._entries) - ENTRIES_MAX
        if surplus > 0:
            self._from_id = self._entries[surplus - 1].id
            for entry in self._entries[:surplus]:
                self._texts.pop((entry.id, False), None)
                self._texts.pop((entry.id, True), None)
            del self._entries[:surplus]
            left = {entry.execution_id for entry in self._entries}
            self._shares = {text: given for text, given in self._shares.items() if text in left}

    def entries_after(self, after_id: int, limit: int) -> Sequence[JournalEntry] | None:
        """Return entries after an id, in order; None if some of them are no longer present."""
        if self._from_id is None or after_id < self._from_id:
            return None
        start = bisect_right(self._entries, after_id, key=lambda entry: entry.id)
        return self._entries[start : start + limit]

    def seen_by(self, execution_id: ExecutionId, visibility: Visibility) -> bool:
        """Return whether the execution of one of the entries is visible; False if it was removed meanwhile."""
        shares = self._shares.get(execution_id)
        return shares is not None and visibility.includes(shares)

    def text(self, entry: JournalEntry, operator: bool, make: Callable[[], bytes]) -> bytes:
        """Return the text of an entry for operators, or for all others; made once while it is present."""
        key = (entry.id, operator)
        text = self._texts.get(key)
        if text is None:
            text = make()
            if self._from_id is not None and entry.id > self._from_id:
                self._texts[key] = text
        return text
