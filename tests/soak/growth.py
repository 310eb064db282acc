"""Whether a sampled amount grows: the medians of the second and the last third of a run are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

LEAST_SAMPLES = 30


@dataclass(frozen=True)
class Kind:
    """A sampled amount, its unit, and by how much the last third may exceed the second: a share and an amount."""

    name: str
    unit: str
    share: float
    amount: float


MEMORY = Kind("memory", "MiB", 0.05, 4)
DESCRIPTORS = Kind("descriptors", "", 0.05, 8)
THREADS = Kind("threads", "", 0.0, 3)
ROWS = Kind("rows", "", 0.10, 200)
LOGS = "logs of programs"
# Tables whose rows stay for a day and longer, by bounds of their own: they grow in a run, as they should. So do logs,
# which whoever starts the programs rotates: here nobody does, `make serve` by zoe_embedded/processes/rotating.py.
KEPT_LONGER = frozenset({"audit", "idempotency_keys", LOGS})
DISK = Kind("disk", "MiB", 0.10, 8)
KINDS = (MEMORY, DESCRIPTORS, THREADS, ROWS, DISK)
OF_PROGRAMS = (MEMORY, DESCRIPTORS, THREADS)
"""What begins anew when the programs do."""


@dataclass(frozen=True)
class Series:
    """One amount of one program or table, by seconds since the begin."""

    kind: Kind
    of: str
    points: Sequence[tuple[float, float]]

    def thirds(self, seconds: float) -> list[float]:
        """Return the medians of the three thirds of a run of this length."""
        bounds = [seconds * part / 3 for part in range(4)]
        return [median(v for at_s, v in self.points if low <= at_s <= high) for low, high in pairwise(bounds)]


@dataclass(frozen=True)
class Verdict:
    """The medians of a series, and whether it grew."""

    series: Series
    medians: Sequence[float]
    grew: bool

    def __str__(self) -> str:
        kind = self.series.kind
        _, second, last = self.medians
        word = "GREW" if self.grew else "flat"
        return f"{kind.name:12} {self.series.of:28} {second:10.1f} -> {last:10.1f} {kind.unit:4} {word}"


def verdicts(series: Sequence[Series], seconds: float) -> list[Verdict]:
    """Compare the last third with the second; ValueError for a series with too few samples to say anything."""
    found = []
    for entry in series:
        if len(entry.points) < LEAST_SAMPLES:
            raise ValueError(f"only {len(entry.points)} samples of {entry.kind.name} of {entry.of}")
        medians = entry.thirds(seconds)
        bound = medians[1] * (1 + entry.kind.share) + entry.kind.amount
        found.append(Verdict(entry, medians, medians[2] > bound and entry.of not in KEPT_LONGER))
    return found


def between(series: Sequence[Series], begin_s: float, end_s: float) -> list[Series]:
    """Return the samples of a time, by seconds since its begin."""
    return [
        Series(entry.kind, entry.of, [(at_s - begin_s, v) for at_s, v in entry.points if begin_s <= at_s <= end_s])
        for entry in series
    ]


def series_of(samples: Mapping[tuple[str, str], Sequence[tuple[float, float]]]) -> list[Series]:
    """Return the series of samples by name of kind and program or table."""
    kinds = {kind.name: kind for kind in KINDS}
    return [Series(kinds[name], of, points) for (name, of), points in samples.items()]
