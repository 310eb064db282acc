"""Promises of bandwidth settle: on an unchanged situation nothing is granted and withdrawn in turns."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.properties.test_scheduler import PER_CASE
from tests.support.checks import of_checks
from tests.support.scheduling import component, queued, started
from zoe_lib.domain import events as ev
from zoe_lib.domain.execution import Execution, Mark
from zoe_lib.domain.lifecycle import apply
from zoe_lib.domain.promises import Rates, promises
from zoe_lib.domain.storage import Bandwidth, Guarantee, StorageDemand


def random_execution(number: int, chance: random.Random) -> Execution:
    """One that has nodes; some are granted something already."""
    read, write = chance.choice([None, chance.randint(1, 60)]), chance.randint(1, 60)
    wish = Bandwidth(read, write, chance.choice(list(Guarantee)))
    placed = started(queued(f"e{number}", component(), storage=StorageDemand(bandwidth=wish)), "n")
    return apply(placed, ev.StorageGranted(at_s=2.0)) if chance.random() < 0.5 else placed


def told(active: Sequence[Execution], supply: Rates) -> list[Execution]:
    """They, each told whether it has what it asks for, as though every promise came into force."""
    held = {promise.execution_id for promise in promises(active, supply)}
    return [one if _knows(one, one.id in held) else apply(one, _news(one.id in held)) for one in active]


def _knows(execution: Execution, held: bool) -> bool:
    return (Mark.STORAGE_GRANTED in execution.marks) is held


def _news(held: bool) -> ev.Event:
    return ev.StorageGranted(at_s=3.0) if held else ev.StorageWithdrawn(at_s=3.0, why="promised to others")


@pytest.mark.parametrize("case", range(of_checks(4, 100_000) // PER_CASE))
def test_who_was_told_once_is_told_nothing_else(case: int) -> None:
    for seed in range(case * PER_CASE, (case + 1) * PER_CASE):
        chance = random.Random(seed)
        active = [random_execution(number, chance) for number in range(chance.randint(1, 8))]
        supply = Rates(chance.randint(0, 200), chance.randint(0, 200))
        settled = told(active, supply)
        assert told(settled, supply) == settled, f"seed {seed}"
