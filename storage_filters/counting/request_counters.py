"""Requests of clients, counted by a proxy for each method, account and container, in memory shared by its workers.

They are counted again by signer, with its name in place of the container. Object servers count the requests that reach
them, by method, account and container.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping
from pathlib import Path

from storage_filters.counting.counter_table import Amounts, CounterTable
from storage_filters.counting.rate_table import Direction

LATENCIES_S = (0.005, 0.02, 0.1, 0.5, 2.0)
"""Upper bounds of the classes of latency; slower requests are in one more class."""
FIELDS = ("born", "answered", "refused", "failed", "read_bytes", "written_bytes", "latency_us")
"""Fields of each counter in a report, followed by the number of requests in each class of latency.

refused: 4xx; failed: 5xx, and connections that ended early. Latency: until the head of the answer; for a PUT it
includes the time in which the client sends the body.
"""
LATENCY_CLASSES = len(LATENCIES_S) + 1
Numbers = tuple[int, ...]
"""Values of `FIELDS`, and the requests of each class of latency."""
FURTHER = "*"
"""Stands for a container or an account whose name is too long for a counter."""
REQUESTS_A_REPORT = 400
"""Most counters in one report of a proxy."""
_METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "REWRITE"})
"""REWRITE is the method of jobs that apply rules to stored objects (`filter_host/rewriting.py`)."""
NAME_BYTES = 200
"""Longest name of a counter."""
_SEPARATOR = "/"  # names of accounts and containers never contain it
_STATUS_OF_FAILURE, _STATUS_OF_REFUSAL = "5", "4"
GONE = "499"
"""Swift's status for a client that disconnected while it sent a body."""


def requests_file(rates_file: str | Path) -> Path:
    """Return the path of the counters, beside the one of the rates."""
    return Path(rates_file).with_suffix(".requests")


def signers_file(rates_file: str | Path) -> Path:
    """Return the path of the counters by signer."""
    return Path(rates_file).with_suffix(".signers")


def request_name(method: str, account: str, container: str) -> str:
    """Return the name of a counter; the container of a request to an account is empty."""
    method = method if method in _METHODS else "other"
    for names in ((account, container), (account, FURTHER), (FURTHER, FURTHER)):
        name = _SEPARATOR.join((method, *names)).encode(errors="replace")
        if len(name) <= NAME_BYTES:
            break
    return name.decode()


def parts_of(name: str) -> tuple[str, str, str]:
    """Return method, account and container of a counter. Raises ValueError."""
    method, account, container = name.split(_SEPARATOR)
    return method, account, container


class RequestCounters:
    """Counters of requests. A refused request creates none, so that invented names take no slots."""

    def __init__(self, path: Path) -> None:
        self._table = CounterTable(path, len(FIELDS) - 1 + LATENCY_CLASSES, NAME_BYTES)

    def close(self) -> None:
        """Close the file for this process; others continue to use it."""
        self._table.close()

    def count(
        self,
        name: str,
        status: str,
        moved: tuple[int, int],
        latency_s: float,
        whole: bool = True,
        known: bool = False,
    ) -> None:
        """Add a request. status: of the answer, or empty without one. moved: bytes read and written. whole: the body of
        the answer was sent completely. known: the name is that of an authenticated client.
        """
        wrong = status[:1] or _STATUS_OF_FAILURE
        served = wrong not in (_STATUS_OF_REFUSAL, _STATUS_OF_FAILURE)
        cut = status.startswith(GONE) or (served and not whole)
        outcome = 2 if cut else {_STATUS_OF_REFUSAL: 1, _STATUS_OF_FAILURE: 2}.get(wrong, 0)
        latency_class = bisect_left(LATENCIES_S, latency_s)

        def add(amounts: Amounts, _: float) -> Amounts:
            now = list(amounts)
            now[outcome] += 1
            now[3] += moved[0]
            now[4] += moved[1]
            now[5] += round(max(latency_s, 0.0) * 1e6)
            now[len(FIELDS) - 1 + latency_class] += 1
            return now

        self._table.change(name, add, time.monotonic(), make=served or known)

    def counts(self) -> Mapping[str, Numbers]:
        """Return the numbers of `FIELDS` and of the classes of latency, by names of counters."""
        return self._table.counts()


Also = Callable[[bool, tuple[int, int]], None]
"""Is called at the end of a request: whether it was served completely, and the bytes that it read and wrote."""


Counter = tuple[RequestCounters, str]
"""Counters of a request, and its name in them; an empty name is not counted."""


class CountedRequest:
    """One request, from its begin to its end. counters: each counts it. also: counts it for its execution."""

    def __init__(self, *counters: Counter, also: Also | None = None) -> None:
        self._also = also
        self._counters = counters
        self._known = False
        self._began_s = time.monotonic()
        self._head_s: float | None = None
        self._status = ""
        self._read = self._written = 0

    def count_by(self, *counters: Counter) -> None:
        """Replace the counters, by those of a known client or by none. So requests for objects of another account,
        which are refused, do not change the owner's counters.
        """
        self._counters, self._known = counters, True

    def note_status(self, status: str) -> None:
        """Note the status of the answer; the last one counts."""
        self._head_s = time.monotonic()
        self._status = status

    def count_piece(self, direction: Direction, length: int) -> None:
        """Add a piece of a body."""
        if direction == "get":
            self._read += length
        else:
            self._written += length

    def end(self, whole: bool = True) -> None:
        """Count the request. whole: the body of the answer was sent completely."""
        moved = self._read, self._written
        if self._also is not None:
            self._also(whole and self._status[:1] in ("2", "3"), moved)
        latency_s = (self._head_s or time.monotonic()) - self._began_s
        for counters, name in self._counters:
            if name:
                counters.count(name, self._status, moved, latency_s, whole, self._known)


def changed_counts(told: dict[str, Numbers], now: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Return counters that differ from the reported ones, at most REQUESTS_A_REPORT, and record them as reported; the
    rest follows in the next report.

    A counter that lost its slot is forgotten.
    """
    for name in told.keys() - now.keys():
        del told[name]
    # reported counters keep their order and new ones come last, so that each gets its turn
    changed = [name for name in (*told, *(now.keys() - told.keys())) if told.get(name) != now[name]]
    found = {name: now[name] for name in changed[:REQUESTS_A_REPORT]}
    for name in found:
        told.pop(name, None)
    told.update(found)
    return found
