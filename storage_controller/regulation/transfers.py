"""Adds up the transfers of executions: counters of proxies go to the database each second.

Proxies report counters that never fall, so a restart of the controller or a lost report loses no byte. When a
credential ends, the controller requests its counter from each proxy, which answers in its next report; then the
transfer is settled. After a minute it is settled without the missing proxies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.transfer_rows import HeardCount
from storage_controller.database.use_rows import HeardUse
from storage_filters.counting.use_counters import USE_FIELDS, parts_of_use
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_FLUSHED_EACH_S = 1.0
_SWEPT_EACH_S = 600.0  # the uses of executions have no index by time
_SETTLED_WITHIN_S = 60.0
KEPT_S = 7 * 86400.0
"""Seconds for which settled transfers, and uses of executions, are stored if they are not fetched."""
_HEARD_MAX = 20_000  # while another controller leads, or the database is away
_FIELDS = 5


class TransferBook:
    """Unstored reports of proxies, and the proxies that have answered; for one thread."""

    def __init__(self, ledger: Ledger, proxies: Collection[str], clock: Clock = SYSTEM_CLOCK) -> None:
        self._ledger = ledger
        self._proxies = frozenset(proxies)
        self._clock = clock
        self._heard: dict[tuple[str, str], HeardCount] = {}
        self._uses: dict[tuple[str, str], HeardUse] = {}
        self._answered: dict[str, set[str]] = {}
        self._flushed_s: float | None = None
        self._swept_s: float | None = None
        self._asked: Mapping[str, tuple[int, float]] = {}
        self.counting: Mapping[str, bool] = dict.fromkeys(proxies, False)
        """Whether each proxy reports counters."""

    @property
    def requested_counters(self) -> list[str]:
        """Return the counters to request from all proxies."""
        return list(self._asked)

    def hear(
        self,
        proxy: str,
        moved: Mapping[str, Sequence[int]] | None,
        settled: Collection[str],
        uses: Mapping[str, Sequence[int]] = MappingProxyType({}),
    ) -> None:
        """Record a report. None: the proxy has an earlier version without counters. Raises ValueError and TypeError."""
        used = {(proxy, name): _use(proxy, name, numbers) for name, numbers in uses.items()}
        counts = [_count(proxy, name, numbers) for name, numbers in (moved or {}).items()]
        self.counting = {**self.counting, proxy: moved is not None}
        for count in counts:
            key = proxy, f"{count.execution}/{count.generation}"
            self._heard.pop(key, None)
            self._heard[key] = count
        self._uses |= used
        for heard in (self._heard, self._uses):
            while len(heard) > _HEARD_MAX:
                del heard[next(iter(heard))]
        for name in settled:
            if name in self._asked:
                self._answered.setdefault(name, set()).add(proxy)

    def flush(self) -> None:
        """Store the reports, and settle the counters that all proxies have answered; at most once a second.

        While the database is away, everything waits for the next call.
        """
        now_s = self._clock.monotonic_s()
        if self._flushed_s is not None and now_s < self._flushed_s + _FLUSHED_EACH_S:
            return
        window_s = float("inf") if self._flushed_s is None else now_s - self._flushed_s
        heard, uses = dict(self._heard), dict(self._uses)
        answered = {name for name, proxies in self._answered.items() if proxies >= self._proxies}
        self._asked = self._ledger.add_transfers(
            heard.values(), window_s * 1e6, answered, _SETTLED_WITHIN_S, KEPT_S, uses.values()
        )
        self._uses = {key: use for key, use in self._uses.items() if uses.get(key) is not use}
        self._flushed_s = now_s
        self._heard = {key: count for key, count in self._heard.items() if heard.get(key) is not count}
        self._answered = {name: proxies for name, proxies in self._answered.items() if name in self._asked}
        if self._swept_s is None or now_s >= self._swept_s + _SWEPT_EACH_S:
            self._swept_s = now_s
            self._ledger.sweep_uses(KEPT_S)


def _count(proxy: str, name: str, numbers: Sequence[int]) -> HeardCount:
    execution, _, generation = name.partition("/")
    if len(numbers) != _FIELDS or min(numbers) < 0:
        raise ValueError(f"the counter {name} must be {_FIELDS} numbers from 0, not {list(numbers)}")
    born, read, written, transferring_us, waiting_us = map(int, numbers)
    return HeardCount(execution, int(generation), proxy, born, read, written, transferring_us, waiting_us)


def _use(proxy: str, name: str, numbers: Sequence[int]) -> HeardUse:
    execution, generation, subject = parts_of_use(name)
    if len(numbers) != len(USE_FIELDS) or min(numbers) < 0:
        raise ValueError(f"the counter {name} must be {len(USE_FIELDS)} numbers from 0, not {list(numbers)}")
    born, *amounts = map(int, numbers)
    return HeardUse(execution, generation, subject, proxy, born, *amounts)
