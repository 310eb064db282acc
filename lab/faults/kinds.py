"""Kinds of faults, and when they occur."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    """Kinds with stable names, which reports use."""

    NODE_DOWN = "node_down"
    """A node fails with everything that runs there, and comes back empty."""
    SERVICE_DEATH = "service_death"
    """A running service is killed."""
    MASTER_DEATH = "master_death"
    """The master dies at a crash point, and another one takes over."""
    STORE_AWAY = "store_away"
    """The database cannot be reached for a while."""
    STORE_BREAKS = "store_breaks"
    """The database fails in the middle of a tick, and is back for the next master."""
    STARTS_LOST = "starts_lost"
    """The back-end accepts starts and loses them."""
    STARTS_REFUSED = "starts_refused"
    """The back-end refuses starts for a while."""
    BACKEND_AWAY = "backend_away"
    """The back-end cannot be observed for a while."""
    EVENTS_LATE = "events_late"
    """The back-end's reports stand still for a while."""
    STORAGE_AWAY = "storage_away"
    """The storage controller cannot be reached for a while."""
    STORAGE_SLOW = "storage_slow"
    """For a while, the storage controller takes seconds to answer, or longer than its time-out."""


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """A fault at a time, in seconds of the simulation. `draw` in [0, 1) selects its victim or its extent."""

    at_s: float
    fault: Fault
    lasts_s: float
    draw: float


def occurrences(
    seed: int, count: int, from_s: float, until_s: float, kinds: tuple[Fault, ...] = tuple(Fault), mean_s: float = 30.0
) -> list[Occurrence]:
    """Return this many faults by the seed, uniform in time and kind, with a mean duration of `mean_s` seconds."""
    chance = Random(f"{seed} faults")
    return sorted(
        Occurrence(
            chance.uniform(from_s, until_s), chance.choice(kinds), chance.expovariate(1 / mean_s), chance.random()
        )
        for _ in range(count)
    )
