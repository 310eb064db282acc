"""Platforms of services in a run of chaos, and their faults."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.chaos.applications import Store
from tests.support.installation import Installation

After = Callable[[float, Callable[[], None]], None]
"""Does something so many seconds later."""


@dataclass(frozen=True)
class Blow:
    """Something that happens, as often as its weight says; `act` returns False when it could not."""

    weight: int
    act: Callable[[], bool]


class World(Protocol):
    """The back-end's side of a run."""

    settings: Mapping[str, Any]
    """Of masters and APIs."""
    clean_within_s: float
    """After the end of all executions nothing is left."""

    stores: Sequence[Store]
    """What executions ask of an object store."""
    programs_know_their_service: bool
    """Whether ZOE_SERVICE_ID is set for them, so that the rules about programs can be checked."""

    def begin(self, installation: Installation) -> None:
        """Prepare before any program starts."""

    def blows(self, chance: random.Random, after: After) -> Mapping[str, Blow]:
        """Return what can happen."""

    def mend(self) -> None:
        """End what still goes on."""

    def shared(self) -> Path:
        """Return the directory that all users of the tenant share."""

    def left(self) -> list[str]:
        """Return the leftovers of services."""

    def credential(self) -> Mapping[str, str] | None:
        """Return what the tenant signs in to the object store with; None without one."""

    def programs(self) -> Mapping[str, int]:
        """Return the pids of programs of Zoe that belong to it."""

    def close(self) -> None:
        """Remove it."""
