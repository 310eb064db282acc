"""Values that pass between Zoe and a storage controller. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StorageCapacity:
    """Bytes per second that the store can move in all, and what is promised of it."""

    read_bytes_per_s: int
    write_bytes_per_s: int
    promised_read_bytes_per_s: int = 0
    promised_write_bytes_per_s: int = 0


@dataclass(frozen=True, slots=True)
class BandwidthSlo:
    """A bandwidth promise for a tenant, in bytes per second; None is no promise."""

    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class BandwidthDemand:
    """What one execution asks for its tenant."""

    tenant: str
    slo: BandwidthSlo


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Whether a demand fits beside what is promised already, and a sentence when it does not."""

    feasible: bool
    sentence: str = ""


def feasibility(now: StorageCapacity, slo: BandwidthSlo) -> Feasibility:
    """Whether one more promise keeps the sum of all within the capacity, each way."""
    for direction, wanted, all_of_it, promised in (
        ("read", slo.read_bytes_per_s or 0, now.read_bytes_per_s, now.promised_read_bytes_per_s),
        ("write", slo.write_bytes_per_s or 0, now.write_bytes_per_s, now.promised_write_bytes_per_s),
    ):
        free = max(all_of_it - promised, 0)
        if wanted > free:
            return Feasibility(False, f"{wanted} bytes/s to {direction} are more than the {free} that are not promised")
    return Feasibility(True)


@dataclass(frozen=True, slots=True)
class View:
    """A per-execution virtual container that shows only the wanted rows and columns."""

    id: str
    tenant: str
    source: str
    columns: tuple[str, ...] = ()
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Achieved:
    """What a tenant got lately, in bytes per second."""

    read_bytes_per_s: float
    write_bytes_per_s: float


class StorageUnavailableError(Exception):
    """The controller cannot be reached or makes no sense; nothing is known of what it did."""
