"""Requests of clients, from the counters of the proxies: totals since each counter started, and rates of the last
minute.

Proxies report counters that never fall (`storage_filters/counting/request_counters.py`), so neither a lost report nor a
restart of the controller changes the totals. Everything is bounded: the number of counters, and the time with rates.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from storage_controller.traffic.last_hour import HourOfRequests, LastHour
from storage_filters.counting.cpu_budget import CPU_FIELDS
from storage_filters.counting.request_counters import FIELDS, LATENCY_CLASSES, parts_of
from storage_filters.rules.rules import Rule
from zoe_lib.clock import SYSTEM_CLOCK, Clock

COUNTERS_MAX = 10_000
SPAN_S, WINDOW_S_MAX = 1.0, 60.0
_COUNTED = len(FIELDS)
Dimension = Literal["tenant", "container", "method", "proxy"]
DIMENSIONS: tuple[Dimension, ...] = ("tenant", "container", "method", "proxy")


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of a counter."""

    tenant: str
    container: str
    method: str
    proxy: str


@dataclass(frozen=True, slots=True)
class Requests:
    """Amounts of requests: `FIELDS` without the birth, CPU time of filters and views (`CPU_FIELDS`), and numbers by
    class of latency.
    """

    answered: int
    refused: int
    failed: int
    read_bytes: int
    written_bytes: int
    latency_us: int
    cpu_us: int
    waited_us: int
    by_latency: tuple[int, ...]

    @classmethod
    def from_numbers(cls, numbers: Sequence[int]) -> Requests:
        """Return the amounts from numbers in their order."""
        answered, refused, failed, read, written, latency_us, cpu_us, waited_us, *by_latency = numbers
        return cls(answered, refused, failed, read, written, latency_us, cpu_us, waited_us, tuple(by_latency))

    def __add__(self, other: Requests) -> Requests:
        return Requests.from_numbers([a + b for a, b in zip(self.numbers(), other.numbers(), strict=True)])

    def numbers(self) -> tuple[int, ...]:
        """Return the amounts in their order."""
        return (
            self.answered, self.refused, self.failed, self.read_bytes, self.written_bytes, self.latency_us,
            self.cpu_us, self.waited_us, *self.by_latency,
        )  # fmt: skip

    @property
    def count(self) -> int:
        """Return the number of requests."""
        return self.answered + self.refused + self.failed


_NO_CPU = (0,) * (len(CPU_FIELDS) - 1)
NO_REQUESTS = Requests.from_numbers((0,) * (_COUNTED - 1 + LATENCY_CLASSES) + _NO_CPU)


class _Source(StrEnum):
    """A proxy has two counters for a subject, one of each kind."""

    REQUESTS = "requests"
    CPU = "cpu"


class Traffic:
    """Records the reports of proxies. Thread-safe. Counters are born by the time of day."""

    def __init__(
        self,
        tenant_of_account: Callable[[str], str],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._tenant = tenant_of_account
        self._clock = clock
        self._began_s, self._began_ns = clock.monotonic_s(), int(clock.now_s() * 1e9)
        self._known: dict[tuple[_Source, Subject], tuple[int, Requests]] = {}
        self._spans: deque[tuple[float, dict[Subject, Requests]]] = deque()
        self._hour = LastHour(clock)
        self._lock = threading.Lock()

    def hear(
        self,
        proxy: str,
        requests: Mapping[str, Sequence[int]],
        computed: Mapping[str, Sequence[int]] = MappingProxyType({}),
    ) -> None:
        """Record a report. Raises ValueError or TypeError for an invalid one, and records nothing."""
        heard = [
            (source, self._subject(proxy, name), *read(name, numbers))
            for source, counters, read in ((_Source.REQUESTS, requests, _requests), (_Source.CPU, computed, _cpu))
            for name, numbers in counters.items()
        ]
        with self._lock:
            for source, subject, born, now in heard:
                self._add(source, subject, born, now)

    def totals(self) -> Mapping[Subject, Requests]:
        """Return the amounts since the start of each counter."""
        with self._lock:
            found: dict[Subject, Requests] = {}
            for (_, subject), (_, now) in self._known.items():
                found[subject] = found[subject] + now if subject in found else now
            return found

    def recent(self, seconds: float) -> tuple[float, Mapping[Subject, Requests]]:
        """Return the seconds that the answer covers, at most the last minute, and the amounts within them."""
        now_s = self._clock.monotonic_s()
        covered_s = min(seconds, WINDOW_S_MAX, max(now_s - self._began_s, SPAN_S))
        with self._lock:
            spans = [of for at_s, of in self._spans if at_s > now_s - covered_s]
        found: dict[Subject, Requests] = {}
        for of in spans:
            for subject, requests in of.items():
                found[subject] = found.get(subject, NO_REQUESTS) + requests
        return covered_s, found

    def under(self, rules: Iterable[Rule], groups: Mapping[str, frozenset[str]], tenant: str) -> HourOfRequests:
        """Return the answered requests of the last hour for a tenant's objects that any of these rules targets."""
        with self._lock:
            return self._hour.under(rules, groups, tenant)

    def _subject(self, proxy: str, name: str) -> Subject:
        method, account, container = parts_of(name)
        return Subject(self._tenant(account), container, method, proxy)

    def _add(self, source: _Source, subject: Subject, born: int, now: Requests) -> None:
        before = self._known.pop((source, subject), None)  # the last reported one is forgotten last
        if before is not None and before[0] == born:
            added = [a - b for a, b in zip(now.numbers(), before[1].numbers(), strict=True)]
        elif before is not None or born >= self._began_ns:
            added = list(now.numbers())
        else:
            added = []  # counted before this controller listened
        if added and min(added) < 0:
            added = []  # an older report
        self._known[source, subject] = born, now
        while len(self._known) > COUNTERS_MAX:
            del self._known[next(iter(self._known))]
        if any(added):
            span = self._span()
            new = Requests.from_numbers(added)
            span[subject] = span.get(subject, NO_REQUESTS) + new
            if source is _Source.CPU:
                return
            moved = new.read_bytes + new.written_bytes
            self._hour.add(subject.tenant, subject.container, subject.method, new.answered, moved)

    def _span(self) -> dict[Subject, Requests]:
        """Return the present second's amounts, and forget those older than a minute."""
        now_s = self._clock.monotonic_s()
        if not self._spans or self._spans[-1][0] <= now_s - SPAN_S:
            self._spans.append((now_s, {}))
        while self._spans[0][0] <= now_s - WINDOW_S_MAX:
            self._spans.popleft()
        return self._spans[-1][1]


def _requests(name: str, numbers: Sequence[int]) -> tuple[int, Requests]:
    whole = _checked_numbers(name, numbers, _COUNTED + LATENCY_CLASSES)
    return whole[0], Requests.from_numbers([*whole[1:_COUNTED], *_NO_CPU, *whole[_COUNTED:]])


def _cpu(name: str, numbers: Sequence[int]) -> tuple[int, Requests]:
    born, cpu_us, waited_us = _checked_numbers(name, numbers, len(CPU_FIELDS))
    return born, replace(NO_REQUESTS, cpu_us=cpu_us, waited_us=waited_us)


def _checked_numbers(name: str, numbers: Sequence[int], length: int) -> list[int]:
    whole = [int(number) for number in numbers]
    if len(whole) != length or min(whole) < 0:
        raise ValueError(f"the counter {name} is {whole}")
    return whole


def group_by(requests: Mapping[Subject, Requests], by: Iterable[Dimension]) -> Mapping[tuple[str, ...], Requests]:
    """Return sums by these dimensions."""
    names = tuple(by)
    found: dict[tuple[str, ...], Requests] = {}
    for subject, amounts in requests.items():
        key = tuple(str(getattr(subject, name)) for name in names)
        found[key] = found.get(key, NO_REQUESTS) + amounts
    return found


def weight(requests: Requests) -> tuple[int, int, int]:
    """Return the sort key of requests: the most bytes come first."""
    return -(requests.read_bytes + requests.written_bytes), -requests.count, -requests.cpu_us
