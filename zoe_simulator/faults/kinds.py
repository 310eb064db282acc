"""What can go wrong, and when it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    """Stable names, as reports have them."""

    NODE_DOWN = "node_down"
    """A node goes with all that runs there, and comes back empty."""
    SERVICE_DEATH = "service_death"
    """A running service is killed."""
    MASTER_DEATH = "master_death"
    """The master dies at one of its named steps, and another one takes over."""
    STORE_AWAY = "store_away"
    """The database cannot be reached for a while."""
    STORE_BREAKS = "store_breaks"
    """The database goes away in the middle of a tick, and is there again for the next master."""
    STARTS_LOST = "starts_lost"
    """The back-end takes starts and never hears of them again."""
    STARTS_REFUSED = "starts_refused"
    """The back-end takes no start for a while."""
    BACKEND_AWAY = "backend_away"
    """The back-end cannot be seen for a while."""
    EVENTS_LATE = "events_late"
    """What the back-end reports stands still for a while."""
    STORAGE_AWAY = "storage_away"
    """The storage controller cannot be reached for a while."""
    STORAGE_SLOW = "storage_slow"
    """The storage controller takes seconds to answer for a while, or longer than anybody waits for it."""


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """A fault at a time, in seconds of the simulation. `draw` in [0, 1) chooses its victim or its extent."""

    at_s: float
    fault: Fault
    lasts_s: float
    draw: float


def occurrences(
    seed: int, count: int, from_s: float, until_s: float, kinds: tuple[Fault, ...] = tuple(Fault), mean_s: float = 30.0
) -> list[Occurrence]:
    """So many faults at even chances in time and kind, each for `mean_s` seconds on average, by the seed."""
    chance = Random(f"{seed} faults")
    return sorted(
        Occurrence(
            chance.uniform(from_s, until_s), chance.choice(kinds), chance.expovariate(1 / mean_s), chance.random()
        )
        for _ in range(count)
    )
