"""Audit entries of operators who look at other users' data: one for a person and a target in a quarter of an hour."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.people import AuditEntry
from zoe_lib.store.postgres.accounts import AccountStore

# Each API process counts separately.
AGAIN_S = 900.0
# Beyond this the oldest looks are forgotten, and recorded again sooner.
_REMEMBERED_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Looks:
    """The recently recorded looks. Thread-safe."""

    clock: Clock = SYSTEM_CLOCK
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _recorded: OrderedDict[tuple[str, str], float] = field(default_factory=OrderedDict)

    def record(self, accounts: AccountStore, look: AuditEntry) -> None:
        """Write an entry, unless one of the same user and target is recent."""
        key = (look.user, look.target)
        with self._lock:
            if self.clock.monotonic_s() < self._recorded.get(key, -AGAIN_S) + AGAIN_S:
                return
        accounts.add_audit(look)
        with self._lock:
            self._recorded[key] = self.clock.monotonic_s()
            self._recorded.move_to_end(key)
            if len(self._recorded) > _REMEMBERED_MAX:
                self._recorded.popitem(last=False)
