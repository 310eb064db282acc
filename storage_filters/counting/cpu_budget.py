"""CPU seconds of filters and views at a proxy: what each account may take, and what requests took, for all workers.

A bound is cores: CPU seconds per second of all of an account's requests at a proxy. It is kept by the same pace as
bandwidth (`rate_table.py`), in nanoseconds of CPU time instead of bytes. What was taken is counted by method, account
and container, as requests are (`request_counters.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage_filters.counting.counter_table import CounterTable
from storage_filters.counting.rate_table import Direction, RateTable
from storage_filters.counting.request_counters import NAME_BYTES

CPU_FIELDS = ("born", "cpu_us", "waited_us")
"""What a report has of each counter. waited: for the bound of the account."""
_PACE: Direction = "get"
"""Under which direction the table has the pace of an account, which is one for reads and writes."""
_CORE = 1e9
Took = Callable[[int], None]
"""Hears of microseconds of CPU time."""


class CpuBudget:
    """The bounds and the counters, in files beside that of the rates."""

    def __init__(self, rates_file: str | Path) -> None:
        self._rates = RateTable(Path(rates_file).with_suffix(".cpu"))
        self._counters = CounterTable(Path(rates_file).with_suffix(".computed"), len(CPU_FIELDS) - 1, NAME_BYTES)
        self._told: Any = None

    def close(self) -> None:
        """Close the files for this process; others continue to use them."""
        self._rates.close()
        self._counters.close()

    def bound(self, cores: Mapping[str, float], others: float | None) -> None:
        """Replace all bounds. cores: of accounts. others: of all other accounts, None for as much as there is.
        ValueError for zero or less.
        """
        told = dict(cores), others
        if told == self._told:
            return
        if not all(one > 0 for one in (*cores.values(), *([] if others is None else [others]))):
            raise ValueError(f"filters may take {cores} cores, others {others}")
        rates = {(account, _PACE): one * _CORE for account, one in cores.items()}
        self._rates.set_rates(rates, time.monotonic(), {_PACE: (others or 0.0) * _CORE})
        self._told = told

    def of_request(self, name: str, account: str, took: Took | None = None) -> RequestSpending:
        """Return what is spent for a request. name: of its counter. took: hears of it too."""
        return RequestSpending(self._rates, self._counters, name, account, took)

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of `CPU_FIELDS` by names of counters."""
        return self._counters.counts()


@dataclass(frozen=True, slots=True)
class RequestSpending:
    """Books for an account, and counts for a request."""

    rates: RateTable
    counters: CounterTable
    name: str
    account: str
    took: Took | None

    def spent(self, cpu_ns: int, waited_ns: int) -> None:
        """Book CPU time, and how long the request waited for it."""
        now_s = time.monotonic()
        self.rates.turn(self.account, _PACE, cpu_ns, now_s)
        cpu_us, waited_us = round(cpu_ns / 1000), round(waited_ns / 1000)
        self.counters.change(self.name, lambda now, _: (now[0] + cpu_us, now[1] + waited_us), now_s)
        if self.took is not None:
            self.took(cpu_us)

    def left_s(self) -> float:
        """Return in how many seconds what the account has booked is over; 0 without a bound."""
        return self.rates.ahead_s(self.account, _PACE, time.monotonic())
