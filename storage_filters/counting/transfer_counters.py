"""Bytes and time of executions' transfers through a proxy: a counter for each credential of an execution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from storage_filters.counting.counter_table import Amounts, CounterTable
from storage_filters.counting.rate_table import Direction
from storage_filters.counting.request_counters import CountedRequest
from storage_filters.execution_auth.names import ExecutionUser

_AMOUNTS = 4  # bytes read and written, microseconds transferring and waiting
_NAME_BYTES = 88


def counters_file(rates_file: str | Path) -> Path:
    """Return the path of the counters, beside the one of the rates."""
    return Path(rates_file).with_suffix(".counters")


def name_of(user: ExecutionUser) -> str:
    """Return the name of a credential's counter; generations are unique within a controller."""
    return f"{user.execution}/{user.generation}"


@dataclass(frozen=True, slots=True)
class TransferCount:
    """Transfer with a credential since the counter was born.

    transferring_us: microseconds in which any of its requests waited for the store or moved bytes. waiting_us: the same
    added up over requests.
    """

    born: int
    read_bytes: int
    written_bytes: int
    transferring_us: int
    waiting_us: int

    def numbers(self) -> list[int]:
        """Return the fields in their order, as reports have them."""
        return [self.born, self.read_bytes, self.written_bytes, self.transferring_us, self.waiting_us]


class TransferCounters:
    """Counters of transfers, in memory shared by all workers."""

    def __init__(self, path: Path) -> None:
        self._table = CounterTable(path, _AMOUNTS, _NAME_BYTES)

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._table.close()

    def count(self, name: str, direction: Direction, length: int, from_s: float, now_s: float) -> None:
        """Add a piece for which a request waited since `from_s`. Times are of the monotonic clock, one for all
        processes; time in which several requests waited counts once.
        """

        def add(amounts: Amounts, last_s: float) -> Amounts:
            read, written, transferring_us, waiting_us = amounts
            fresh_us = round(max(now_s - max(last_s, from_s), 0.0) * 1e6)
            waited_us = round(max(now_s - from_s, 0.0) * 1e6)
            read += length if direction == "get" else 0
            written += length if direction == "put" else 0
            return read, written, transferring_us + fresh_us, waiting_us + waited_us

        self._table.change(name, add, now_s)

    def counts(self) -> Mapping[str, TransferCount]:
        """Return all counters by name, without those in the middle of a write."""
        return {name: TransferCount(*numbers) for name, numbers in self._table.counts().items()}


class StoreWait:
    """Counts the bytes of one request, and how long it waits for the store; the client's time is left out.

    Without a name, only the request itself is counted.
    """

    def __init__(self, counters: TransferCounters, name: str, request: CountedRequest) -> None:
        self._counters = counters
        self._name = name
        self._request = request
        self._since_s = time.monotonic()

    def count_piece(self, direction: Direction, length: int) -> None:
        """Count a piece, and the time until now."""
        self._request.count_piece(direction, length)
        if self._name:
            now_s = time.monotonic()
            self._counters.count(self._name, direction, length, self._since_s, now_s)
            self._since_s = now_s

    def begin_wait(self) -> None:
        """Start to wait for the store, after the client took its time."""
        self._since_s = time.monotonic()
