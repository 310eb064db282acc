"""For any use by other programs, order and backfill: executions that wait for these programs delay no other.

Exact packing, independent of the scheduler's own, says what could be placed.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from lab.invariants.queue import queue_problems
from tests.support.checks import of_checks
from tests.support.resting import ticks_to_rest
from tests.support.snapshots import PER_CASE, random_snapshot
from zoe_lib.domain.applications.exact_packing import PlacementShortage, StepBudget, pack_exactly
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.policy import BACKFILLS, ORDERS, TENANCIES, Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode, holds_up_others
from zoe_lib.domain.values.resources import NOTHING, Resources
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot

CASES = of_checks(0.5, 10_000)
# The share of an execution depends on all waiting ones, so a waiting one changes the sequence of the others, and only
# that.
_BY_ALL_THAT_WAITS = ("psbs", "fair-share")
LASTING = (ReasonCode.FOREIGN_USE, ReasonCode.NEVER_FITS)


def random_case(seed: int) -> tuple[Snapshot, Policy]:
    """A tight cluster on which other programs use anything from nothing to more than there is."""
    plain, _ = random_snapshot(random.Random(seed))
    chance = random.Random(f"foreign {seed}")

    def used(node: Node) -> Node:
        share = chance.choice([0.0, 0.0, 0.3, 0.6, 0.9, 1.2])
        foreign = Resources(
            int(node.total.cores_milli * chance.choice([0.0, share])),
            int(node.total.memory_bytes * chance.choice([share, share, 0.0])),
            {"gpu": min(chance.choice([0, 0, 1]), node.total.devices.get("gpu", 0))},
        )
        return replace(node, ready=True, foreign=foreign)

    def sized(execution: Execution) -> Execution:
        run_s = chance.choice([0.5, 5.0, 50.0, None])
        application = replace(execution.application, expected_run_s=run_s)
        return replace(execution, application=application, tenant=chance.choice("ab"))

    policy = Policy(
        order=chance.choice(sorted(ORDERS)),
        backfill=chance.choice(sorted(BACKFILLS)),
        tenants=chance.choice(sorted(TENANCIES)),
        preemption=chance.choice(["elastic", "elastic", "none"]),
        interactive_share=chance.choice([0.0, 0.5]),
    )
    queued, active = tuple(map(sized, plain.queued)), tuple(map(sized, plain.active))
    return replace(plain, nodes=tuple(map(used, plain.nodes)), queued=queued, active=active), policy


def fits_idle(execution: Execution, nodes: tuple[Node, ...]) -> bool:
    """Whether its core fits next to what other programs use while nothing of Zoe runs."""
    labels = {node.name: node.labels for node in nodes}
    found = pack_exactly(
        execution.application.core_groups,
        {node.name: node.usable for node in nodes},
        lambda component, name: all(labels[name].get(key) == label for key, label in component.labels),
        StepBudget(),
    )
    assert found is not PlacementShortage.NOT_SHOWN
    return not isinstance(found, PlacementShortage)


def check(seed: int) -> int:
    """Return how many wait for other programs."""
    snapshot, policy = random_case(seed)
    plan = schedule(snapshot, policy)
    assert not (wrong := list(queue_problems(snapshot, policy, plan))), wrong
    waits = {k for k, reason in plan.reasons.items() if reason.code is ReasonCode.FOREIGN_USE}
    if policy.tenants == "none" and not policy.interactive_share and policy.order not in _BY_ALL_THAT_WAITS:
        rest = tuple(e for e in snapshot.queued if e.id not in waits)
        without = schedule(replace(snapshot, queued=rest), policy)
        assert (plan.starts, plan.reserved, plan.preempt) == (without.starts, without.reserved, without.preempt)
    idle = tuple(replace(node, foreign=NOTHING) for node in snapshot.nodes)
    for execution in snapshot.queued:
        reason = plan.reasons.get(execution.id)
        if execution.id in waits:
            assert fits_idle(execution, idle), f"{execution.id} never fits, whatever other programs use"
            assert not fits_idle(execution, snapshot.nodes), f"{execution.id} waits for Zoe's own, not for others"
        elif reason is not None and holds_up_others(reason):
            assert fits_idle(execution, snapshot.nodes), f"{execution.id} holds up others for ever"
    return len(waits)


def check_all_that_can_start_starts(seed: int) -> None:
    """Running executions end, again and again, until nothing starts: then all that could start have started."""
    snapshot, policy = random_case(seed)
    for _ in range(len(snapshot.queued) + 2):
        rested = ticks_to_rest(replace(snapshot, active=()), policy)
        assert rested is not None, "it does not come to rest"
        if len(rested[0].queued) == len(snapshot.queued):
            break
        snapshot = rested[0]
    left = {e.id: fits_idle(e, snapshot.nodes) for e in snapshot.queued}
    assert not any(left.values()), f"{left} could start and do not, by {policy.order} with {policy.backfill}"
    plan = schedule(replace(snapshot, active=()), policy)
    assert all(reason.code in LASTING for reason in plan.reasons.values())


def check_turn_is_kept(seed: int) -> None:
    """When other programs are gone, the queue is served as if they had never been there."""
    snapshot, policy = random_case(seed)
    rested = ticks_to_rest(replace(snapshot, active=()), policy)
    assert rested is not None
    freed = replace(rested[0], active=(), nodes=tuple(replace(n, foreign=NOTHING) for n in snapshot.nodes))
    plan = schedule(freed, policy)
    could = [e for e in queue_sequence(Pass.from_snapshot(freed, policy)) if fits_idle(e, freed.nodes)]
    assert not could or could[0].id in plan.starts, f"{could[0].id} is first, and waits"


@pytest.mark.parametrize("first_seed", range(0, CASES, PER_CASE))
def test_execution_waiting_for_other_programs_delays_no_other(first_seed: int) -> None:
    assert sum(_named(check, seed) or 0 for seed in range(first_seed, first_seed + PER_CASE)), "this tries nothing"


@pytest.mark.parametrize("first_seed", range(0, CASES, PER_CASE))
def test_all_that_can_start_starts_and_keeps_its_turn(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        _named(check_all_that_can_start_starts, seed)
        _named(check_turn_is_kept, seed)


def _named(checked: object, seed: int) -> int | None:
    try:
        return checked(seed)  # type: ignore[operator, no-any-return]
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
