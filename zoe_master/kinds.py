"""What past runs tell of the applications that are there now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from zoe_master.scheduler.ordering.estimate import RunKey


class Kinds:
    """Expected run times in seconds by kind, kept as executions come and go. `expected`: what is known of any kind."""

    def __init__(self, expected: Callable[[RunKey], float | None]) -> None:
        self._expected = expected
        self._present: Counter[RunKey] = Counter()
        self.known: dict[RunKey, float] = {}
        """Of the kinds that are there now; it changes."""
        self._frozen: Mapping[RunKey, float] | None = None

    def enter(self, kind: RunKey) -> None:
        """One more of this kind is there."""
        self._present[kind] += 1
        if self._present[kind] == 1:
            self.learned(kind)

    def leave(self, kind: RunKey) -> None:
        """One of them is gone."""
        self._present[kind] -= 1
        if not self._present[kind]:
            del self._present[kind]
            if self.known.pop(kind, None) is not None:
                self._frozen = None

    def learned(self, kind: RunKey) -> None:
        """More is known of this kind."""
        expected_s = self._expected(kind) if kind in self._present else None
        if expected_s is not None:
            self.known[kind] = expected_s
            self._frozen = None

    def frozen(self) -> Mapping[RunKey, float]:
        """What is known now, as it will stay."""
        if self._frozen is None:
            self._frozen = dict(self.known)
        return self._frozen
