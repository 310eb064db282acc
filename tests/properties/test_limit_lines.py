"""The first execution in line for a limit starts when expected, however many of the same tenant or user come later.

Simulated event by event with exact run times; the time at which the limit admits it is computed anew.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.checks import of_checks
from tests.support.limits import tenant_limit, user_limit
from tests.support.resting import carry_out
from tests.support.scheduling import GIB, component, node, queued
from zoe_lib.domain.cluster.policy import BACKFILLS, Policy
from zoe_lib.domain.executions.execution import Execution, Mark
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources, total
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot

CASES = of_checks(0.2, 3_000)
PER_CASE = 100
NODES = (node("n", cores=1000, memory_gib=1000),)  # room is never short
CORES_MILLI, MEMORY_BYTES = 8000, 8 * GIB
REFUSED = (ReasonCode.TENANT_LIMIT, ReasonCode.USER_LIMIT)


def random_policy(chance: random.Random) -> Policy:
    limits = chance.choice([(CORES_MILLI, None), (None, MEMORY_BYTES), (CORES_MILLI, MEMORY_BYTES)])
    of_user = chance.random() < 0.5
    return Policy(
        order="fifo",
        backfill=chance.choice(sorted(BACKFILLS)),
        preemption=chance.choice(["elastic", "none"]),
        tenant_limits={} if of_user else {"*": tenant_limit(*limits)},
        user_limits={"*": user_limit(*limits)} if of_user else {},
    )


def random_arrivals(chance: random.Random) -> list[Execution]:
    """Some large and many small ones of the same user, some of which grow."""
    arrivals = []
    for number in range(chance.randint(3, 25)):
        size = chance.choice([1, 1, 2, 3, 4, 5, 8])
        elastic = component("e", 1, 1, essential_count=0, total_count=chance.choice([0, 0, 4]) or 1)
        parts = [component(cores=size, memory_gib=size), *([elastic] if chance.random() < 0.3 else [])]
        at_s = chance.choice([0.0, 3.0, 6.0, 11.0])
        arrivals.append(queued(f"q{number}", *parts, at_s=at_s, expected_run_s=chance.choice([2.0, 5.0, 20.0])))
    return sorted(arrivals, key=lambda e: (e.submitted_at_s, e.id))


def end_s(execution: Execution) -> float:
    assert execution.application.expected_run_s is not None
    return execution.marks[Mark.PLACED] + execution.application.expected_run_s


def expected_s(first: Execution, active: Sequence[Execution], policy: Policy, now_s: float) -> float:
    """When its core is within the limit if nothing else gets anything."""
    keeps = policy.preemption == "none"
    limit = (policy.tenant_limits or policy.user_limits)["*"]
    for at_s in sorted({now_s, *map(end_s, active)}):
        staying = [e for e in active if end_s(e) > at_s]
        held = total(e.component_of(s).reservation for e in staying for s in e.services if s.node and (s.core or keeps))
        after: Resources = held + first.application.core_resources()
        cores, memory = limit["cores_milli"], limit["memory_bytes"]
        if (cores is None or after.cores_milli <= cores) and (memory is None or after.memory_bytes <= memory):
            return at_s
    raise AssertionError("it is larger than the limit")


def check_seed(seed: int) -> int:
    """Return how many were promised a start."""
    chance = random.Random(seed)
    policy, arrivals = random_policy(chance), random_arrivals(chance)
    snapshot, promised = Snapshot(0.0, NODES), dict[str, float]()
    while arrivals or snapshot.queued or snapshot.active:
        now_s = min([*(e.submitted_at_s for e in arrivals[:1]), *map(end_s, snapshot.active)])
        come = [e for e in arrivals if e.submitted_at_s <= now_s]
        arrivals = arrivals[len(come) :]
        staying = tuple(e for e in snapshot.active if end_s(e) > now_s)
        snapshot = replace(snapshot, now_s=now_s, queued=(*snapshot.queued, *come), active=staying)
        for _ in range(2 * len(snapshot.queued) + 3):  # elastic services leave in one tick, the core starts in the next
            plan = schedule(snapshot, policy)
            snapshot = carry_out(snapshot, plan)
        first = next((e for e in snapshot.queued if plan.reasons[e.id].code in REFUSED), None)
        if first is not None:
            promised.setdefault(first.id, expected_s(first, snapshot.active, policy, now_s))
            assert now_s < promised[first.id] + 1e-9, f"seed {seed}: {first.id} still waits at {now_s}"
        late = {e.id for e in snapshot.queued if promised.get(e.id, now_s + 1) <= now_s}
        assert not late, f"seed {seed}: {late} should have started by {now_s}"
    return len(promised)


@pytest.mark.parametrize("first_seed", range(0, CASES, PER_CASE))
def test_first_in_line_for_a_limit_starts_when_expected(first_seed: int) -> None:
    assert sum(map(check_seed, range(first_seed, first_seed + PER_CASE))) > PER_CASE, "this tries little"
