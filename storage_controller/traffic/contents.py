"""Compressibility of the contents of each container, from the reports of the proxies.

Proxies report counters that never fall (`storage_filters/bandwidth/content_samples.py`). A value covers the last minute
with samples in a place, so that a container keeps it over nights without a client.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage_filters.bandwidth.content_samples import SAMPLE_FIELDS
from storage_filters.counting.request_counters import parts_of
from storage_filters.rules.metrics import COMPRESSIBILITY
from storage_filters.rules.rules import Rule, TargetKind, metrics_of
from zoe_lib.clock import SYSTEM_CLOCK, Clock

PLACES_MAX = 10_000
MINUTE_S = 60.0
Place = tuple[str, str]
"""Tenant and container."""


@dataclass(frozen=True, slots=True)
class SampledBytes:
    """Bytes of samples before and after compression."""

    sampled: int = 0
    compressed: int = 0

    def __add__(self, other: SampledBytes) -> SampledBytes:
        return SampledBytes(self.sampled + other.sampled, self.compressed + other.compressed)

    def __sub__(self, other: SampledBytes) -> SampledBytes:
        return SampledBytes(self.sampled - other.sampled, self.compressed - other.compressed)

    @property
    def saved_percent(self) -> float | None:
        """Return the saved part in percent; None without a sample."""
        return 100.0 * (1.0 - self.compressed / self.sampled) if self.sampled else None


class Contents:
    """Records the reports of proxies. Thread-safe. The number of places is bounded: the one without a report for the
    longest time is forgotten.
    """

    def __init__(self, tenant_of_account: Callable[[str], str], clock: Clock = SYSTEM_CLOCK) -> None:
        self._tenant = tenant_of_account
        self._clock = clock
        self._known: dict[tuple[str, Place], tuple[int, SampledBytes]] = {}
        self._minutes: dict[Place, tuple[float, SampledBytes, SampledBytes]] = {}
        self._lock = threading.Lock()

    def hear(self, proxy: str, samples: Mapping[str, Sequence[int]]) -> None:
        """Record a report. Raises ValueError or TypeError for an invalid one, and records nothing."""
        heard = [(self._place(name), *_read(name, numbers)) for name, numbers in samples.items()]
        with self._lock:
            for place, born, now in heard:
                self._add(proxy, place, born, now)

    def totals(self) -> Mapping[Place, SampledBytes]:
        """Return the samples since the start of each counter."""
        with self._lock:
            found: dict[Place, SampledBytes] = {}
            for (_, place), (_, now) in self._known.items():
                found[place] = found.get(place, SampledBytes()) + now
            return found

    def values(self, rule: Rule, groups: Mapping[str, frozenset[str]]) -> dict[str, float]:
        """Return the metric of contents for a rule's target, if its condition has it and the value is known; not of a
        rule for one object.
        """
        target = rule.target
        if COMPRESSIBILITY not in metrics_of(rule) or target.kind is TargetKind.OBJECT:
            return {}
        places = groups.get(target.tenant, frozenset()) if target.kind is TargetKind.GROUP else {target.name}
        with self._lock:
            sums = [
                before + now
                for (tenant, container), (_, before, now) in self._minutes.items()
                if {tenant, f"{tenant}/{container}"} & places
            ]
        value = sum(sums, SampledBytes()).saved_percent
        return {} if value is None else {COMPRESSIBILITY: round(value, 1)}

    def _place(self, name: str) -> Place:
        _, account, container = parts_of(name)
        return self._tenant(account), container

    def _add(self, proxy: str, place: Place, born: int, now: SampledBytes) -> None:
        before = self._known.pop((proxy, place), None)
        added = now - before[1] if before is not None and before[0] == born else now
        if added.sampled < 0:
            added = SampledBytes()  # an older report
        self._known[proxy, place] = born, now
        if added.sampled:
            began_s, last, this = self._minutes.pop(place, (self._clock.monotonic_s(), SampledBytes(), SampledBytes()))
            if self._clock.monotonic_s() - began_s > MINUTE_S:
                began_s, last, this = self._clock.monotonic_s(), this, SampledBytes()
            self._minutes[place] = began_s, last, this + added
        _forget(self._known)
        _forget(self._minutes)


def _forget(kept: dict[Any, Any]) -> None:
    while len(kept) > PLACES_MAX:
        del kept[next(iter(kept))]


def _read(name: str, numbers: Sequence[int]) -> tuple[int, SampledBytes]:
    whole = [int(number) for number in numbers]
    if len(whole) != len(SAMPLE_FIELDS) or min(whole) < 0:
        raise ValueError(f"the samples {name} are {whole}")
    return whole[0], SampledBytes(*whole[1:])
