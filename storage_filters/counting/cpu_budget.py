"""CPU seconds of filters and views at a proxy: the bound of each account, and the use by requests, for all workers.

A bound is a number of cores: CPU seconds per second of all requests of an account at a proxy. The pace of bandwidth
(`rate_table.py`) enforces it, in nanoseconds of CPU time instead of bytes. CPU time is counted by method, account and
container, like requests (`request_counters.py`).
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
"""Fields of each counter in a report. waited: for the bound of the account."""
_PACE: Direction = "get"
"""Direction under which the table has the pace of an account, one for reads and writes."""
_CORE = 1e9
Took = Callable[[int], None]
"""Is called with microseconds of CPU time."""


class CpuBudget:
    """Bounds and counters, in files beside the one of the rates."""

    def __init__(self, rates_file: str | Path) -> None:
        self._rates = RateTable(Path(rates_file).with_suffix(".cpu"))
        self._counters = CounterTable(Path(rates_file).with_suffix(".computed"), len(CPU_FIELDS) - 1, NAME_BYTES)
        self._told: Any = None

    def close(self) -> None:
        """Close the files for this process; others continue to use them."""
        self._rates.close()
        self._counters.close()

    def bound(self, cores: Mapping[str, float], others: float | None) -> None:
        """Replace all bounds. cores: by account. others: of all other accounts, None for no bound. Raises ValueError
        for zero or less.
        """
        told = dict(cores), others
        if told == self._told:
            return
        if not all(core > 0 for core in (*cores.values(), *([] if others is None else [others]))):
            raise ValueError(f"filters may take {cores} cores, others {others}")
        rates = {(account, _PACE): value * _CORE for account, value in cores.items()}
        self._rates.set_rates(rates, time.monotonic(), {_PACE: (others or 0.0) * _CORE})
        self._told = told

    def spending_for(self, name: str, account: str, took: Took | None = None) -> RequestSpending:
        """Return the spending of a request. name: of its counter. took: is called with its CPU time too."""
        return RequestSpending(self._rates, self._counters, name, account, took)

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of `CPU_FIELDS` by names of counters."""
        return self._counters.counts()


@dataclass(frozen=True, slots=True)
class RequestSpending:
    """Books CPU time for an account, and counts it for a request."""

    rates: RateTable
    counters: CounterTable
    name: str
    account: str
    took: Took | None

    def book(self, cpu_ns: int, waited_ns: int) -> None:
        """Book CPU time, and how long the request waited for it."""
        now_s = time.monotonic()
        self.rates.turn(self.account, _PACE, cpu_ns, now_s)
        cpu_us, waited_us = round(cpu_ns / 1000), round(waited_ns / 1000)
        self.counters.change(self.name, lambda now, _: (now[0] + cpu_us, now[1] + waited_us), now_s)
        if self.took is not None:
            self.took(cpu_us)

    def left_s(self) -> float:
        """Return the seconds until the booked time of the account has passed; 0 without a bound."""
        return self.rates.ahead_s(self.account, _PACE, time.monotonic())

    def cores(self) -> float:
        """Return the account's bound; 0 for none."""
        return self.rates.rate(self.account, _PACE) / _CORE
