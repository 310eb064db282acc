"""Promises of bandwidth settle: on an unchanged situation nothing is granted and withdrawn in turns.

And an execution reported as never promised is one that the scheduler would let wait for ever on an idle store.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from tests.support.checks import of_checks
from tests.support.scheduling import component, queued, started
from tests.support.snapshots import PER_CASE
from zoe_client.documents.quantities import bytes_per_s_of
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, never_granted, never_promised, promises
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.scheduler.ordering.bandwidth import Guarantees
from zoe_master.scheduler.ordering.estimate import Estimates


def random_execution(number: int, chance: random.Random) -> Execution:
    """One that has nodes; some are granted something already."""
    read, write = chance.choice([None, chance.randint(1, 60)]), chance.randint(1, 60)
    wish = Bandwidth(read, write, chance.choice(list(Guarantee)))
    placed = started(queued(f"e{number}", component(), storage=StorageDemand(bandwidth=wish)), "n")
    return apply(placed, ev.StorageGranted(at_s=2.0)) if chance.random() < 0.5 else placed


def told(active: Sequence[Execution], supply: Rates) -> list[Execution]:
    """Return the executions, each with its grant or refusal, as though every promise came into force."""
    held = {promise.execution_id for promise in promises(active, supply)}
    return [
        execution if _knows(execution, execution.id in held) else apply(execution, _news(execution.id in held))
        for execution in active
    ]


def _knows(execution: Execution, held: bool) -> bool:
    return (Mark.STORAGE_GRANTED in execution.marks) is held


def _news(held: bool) -> ev.Event:
    return ev.StorageGranted(at_s=3.0) if held else ev.StorageWithdrawn(at_s=3.0, why="promised to others")


@pytest.mark.parametrize("case", range(of_checks(4, 100_000) // PER_CASE))
def test_grants_settle_on_an_unchanged_situation(case: int) -> None:
    for seed in range(case * PER_CASE, (case + 1) * PER_CASE):
        chance = random.Random(seed)
        active = [random_execution(number, chance) for number in range(chance.randint(1, 8))]
        supply = Rates(chance.randint(0, 200), chance.randint(0, 200))
        settled = told(active, supply)
        assert told(settled, supply) == settled, f"seed {seed}"


def wishing(rates: Sequence[int], guarantee: Guarantee) -> Execution:
    """One that asks for so many bytes per second, to read and to write; 0: for none."""
    read, write = (rate or None for rate in rates)
    return queued("e", component(), storage=StorageDemand(bandwidth=Bandwidth(read, write, guarantee)))


def refused_when_idle(execution: Execution, capacity: Rates) -> bool:
    """Return whether the scheduler lets it wait though no other execution wants anything."""
    alone = Guarantees([], BandwidthSupply(capacity), Policy(), Estimates({}), 0.0)
    return alone.refusal(execution) is not None


@pytest.mark.parametrize("case", range(of_checks(4, 100_000) // PER_CASE))
def test_never_promised_demand_is_the_one_that_waits_on_an_idle_store(case: int) -> None:
    for seed in range(case * PER_CASE, (case + 1) * PER_CASE):
        chance = random.Random(seed)
        size = chance.choice([5, 10**6, 10**12])
        capacity, rates = Rates(chance.randint(0, size), chance.randint(0, size)), (0, 0)
        while not any(rates):
            rates = tuple(chance.choice([0, chance.randint(1, 2 * size)]) for _ in range(2))
        requires, prefers = (wishing(rates, entry) for entry in (Guarantee.REQUIRED, Guarantee.PREFERRED))
        reason = never_promised(requires.application, capacity)
        assert (reason is not None) is refused_when_idle(requires, capacity), f"seed {seed}"
        assert bool(never_granted(prefers.application, capacity)) is (reason is not None), f"seed {seed}"
        if reason is not None:
            told = re.findall(r"at most (\S+) to (read|write)", reason.hint)
            largest = {way: bytes_per_s_of(rate) for rate, way in told}
            less = wishing([largest.get("read", 0), largest.get("write", 0)], Guarantee.REQUIRED)
            assert never_promised(less.application, capacity) is None, f"seed {seed}"
            short = {"read": rates[0] > capacity.read, "write": rates[1] > capacity.write}
            for way, rate in largest.items():
                more = {**largest, way: rate + 1}
                beyond = wishing([more.get("read", 0), more.get("write", 0)], Guarantee.REQUIRED)
                assert not short[way] or never_promised(beyond.application, capacity) is not None, f"seed {seed}"
