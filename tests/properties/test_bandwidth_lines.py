"""The first execution in line for a tenant's bandwidth limit starts when expected, however many small ones come later.

Simulated event by event with exact run times; the time at which the limit admits it is computed anew.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.checks import of_checks
from tests.support.limits import tenant_limit
from tests.support.resting import carry_out
from tests.support.scheduling import component, node, queued
from zoe_lib.domain.cluster.policy import BACKFILLS, Policy
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, required_rates
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

CASES = of_checks(0.6, 3_000)
PER_CASE = 100
NODES = (node("n", cores=1000, memory_gib=1000),)  # room is never short, nor is the store
SUPPLY = BandwidthSupply(Rates(10_000, 10_000))
MOST = 80


def random_policy(chance: random.Random) -> Policy:
    read, write = chance.choice([(MOST, None), (None, MOST), (MOST, MOST)])
    return Policy(
        order="fifo",
        backfill=chance.choice(sorted(BACKFILLS)),
        tenant_limits={chance.choice(["*", "default"]): tenant_limit(read_bytes_per_s=read, write_bytes_per_s=write)},
    )


def random_arrivals(chance: random.Random) -> list[Execution]:
    """Some executions require much, many require little, some nothing; and a tenant that the limit does not concern."""
    arrivals = []
    for number in range(chance.randint(3, 25)):
        rate = chance.choice([None, 10, 10, 20, 30, 40, 50, 80])
        wish = Bandwidth(rate, chance.choice([None, rate, 10]), Guarantee.REQUIRED)
        storage = None if rate is None else StorageDemand(bandwidth=wish)
        at_s, run_s = chance.choice([0.0, 3.0, 6.0, 11.0]), chance.choice([2.0, 5.0, 20.0])
        one = queued(f"q{number}", component(), at_s=at_s, expected_run_s=run_s, storage=storage)
        arrivals.append(one if chance.random() < 0.9 else replace(one, tenant="another"))
    return sorted(arrivals, key=lambda e: (e.submitted_at_s, e.id))


def end_s(execution: Execution) -> float:
    assert execution.application.expected_run_s is not None
    return execution.marks[Mark.PLACED] + execution.application.expected_run_s


def wants(execution: Execution) -> Rates:
    return required_rates(execution.application) or Rates()


def expected_s(first: Execution, active: Sequence[Execution], policy: Policy, now_s: float) -> float:
    """When it is within the limit if nothing else gets anything."""
    (limit,) = policy.tenant_limits.values()
    for at_s in sorted({now_s, *map(end_s, active)}):
        held = sum((wants(e) for e in active if e.tenant == first.tenant and end_s(e) > at_s), Rates())
        after, wanted = held + wants(first), wants(first)
        pairs = (
            (limit["read_bytes_per_s"], after.read, wanted.read),
            (limit["write_bytes_per_s"], after.write, wanted.write),
        )
        if all(most is None or not asked or there <= most for most, there, asked in pairs):
            return at_s
    raise AssertionError("it is larger than the limit")


def check_seed(seed: int) -> int:
    """Return how many were promised a start."""
    chance = random.Random(seed)
    policy, arrivals = random_policy(chance), random_arrivals(chance)
    snapshot, promised = Snapshot(0.0, NODES, storage=SUPPLY), dict[str, float]()
    while arrivals or snapshot.queued or snapshot.active:
        now_s = min([*(e.submitted_at_s for e in arrivals[:1]), *map(end_s, snapshot.active)])
        come = [e for e in arrivals if e.submitted_at_s <= now_s]
        arrivals = arrivals[len(come) :]
        staying = tuple(e for e in snapshot.active if end_s(e) > now_s)
        snapshot = replace(snapshot, now_s=now_s, queued=(*snapshot.queued, *come), active=staying)
        for _ in range(len(snapshot.queued) + 1):
            plan = schedule(snapshot, policy)
            snapshot = carry_out(snapshot, plan)
        assert not [e for e in snapshot.queued if required_rates(e.application) is None], (
            f"seed {seed}: it needs none of it"
        )
        for tenant in ("default", "another"):
            refused = [e for e in snapshot.queued if plan.reasons[e.id].code is ReasonCode.TENANT_LIMIT]
            first = next((e for e in refused if e.tenant == tenant), None)
            if first is not None:
                promised.setdefault(first.id, expected_s(first, snapshot.active, policy, now_s))
        late = {e.id for e in snapshot.queued if promised.get(e.id, now_s + 1) <= now_s}
        assert not late, f"seed {seed}: {late} should have started by {now_s}"
    return len(promised)


@pytest.mark.parametrize("first_seed", range(0, CASES, PER_CASE))
def test_first_in_line_for_bandwidth_starts_when_expected(first_seed: int) -> None:
    assert sum(map(check_seed, range(first_seed, first_seed + PER_CASE))) > PER_CASE, "this tries little"
