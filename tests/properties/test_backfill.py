"""An execution that passes the first waiting one never delays it, and elastic services give way to it as to any
essential ones.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from lab.invariants.queue import queue_problems, refused_for_room
from lab.invariants.reservations import passing_problems, reservation_problems
from lab.invariants.room import expected_start_s, room_of
from tests.support.checks import CHECKS
from tests.support.snapshots import PER_CASE, random_snapshot
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Queued, StartPlanned, Submitted
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.backfill.backfill import Reservation
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.admission import admit
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

_LABELS: list[tuple[tuple[str, str], ...]] = [(), (), (("disk", "ssd"),), (("disk", "ssd"), ("gpu", "a100"))]


def with_run_times(snapshot: Snapshot, policy: Policy, chance: random.Random) -> tuple[Snapshot, Policy]:
    """Running and waiting executions have run times; the first of the queue is large, so that it often has to wait."""

    def timed(execution: Execution) -> Execution:
        run_s = chance.choice([5.0, 20.0, 20.0, 100.0, None])
        return replace(execution, application=replace(execution.application, expected_run_s=run_s))

    policy = replace(
        policy,
        order="fifo",
        backfill=chance.choice(["easy", "easy-sjbf", "conservative"]),
        preemption=chance.choice(["elastic", "elastic", "none"]),
    )
    queued = sorted(map(timed, snapshot.queued), key=lambda e: -e.application.core_resources().cores_milli)
    large_first = tuple(replace(e, submitted_at_s=float(i)) for i, e in enumerate(queued))
    return replace(snapshot, queued=large_first, active=tuple(map(timed, snapshot.active))), policy


def problems(snapshot: Snapshot, policy: Policy, plan: Plan) -> list[str]:
    """Return faults of passing executions, by the accounts of the simulator's invariants."""
    checks = (queue_problems, reservation_problems, passing_problems)
    found = [wrong for problems_of in checks for wrong in problems_of(snapshot, policy, plan)]
    head = refused_for_room(snapshot, plan)
    if head is None:
        return found
    nobody = replace(policy, backfill="none")
    alone_s = expected_start_s(snapshot, nobody, schedule(snapshot, nobody), head)
    gives_way = policy.preemption == "elastic"  # what stays may delay the first, passing or not
    if gives_way and expected_start_s(snapshot, policy, plan, head) > alone_s:
        found.append(f"{head.id} is delayed beyond {alone_s:g} s")
    behind = [e for e in snapshot.queued if _code(plan, e) is ReasonCode.BEHIND_IN_QUEUE]
    room = room_of(snapshot, plan, elastic_absent=gives_way, leaving_absent=True)
    for execution in behind[:1]:  # only the head before it holds a reservation
        ends_s = snapshot.now_s + Estimates(snapshot.past_runs).guess_s(execution)
        if room.has_room_for(execution) and ends_s <= alone_s < math.inf and snapshot.queued.index(execution) == 1:
            found.append(f"{execution.id} is behind, though it fits and delays no other")
    return found


def _code(plan: Plan, execution: Execution) -> ReasonCode | None:
    reason = plan.reasons.get(execution.id)
    return None if reason is None else reason.code


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_backfill_never_delays_the_first_waiting_execution(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        check(seed)


# Elastic services that stay, and started in the same pass, gave the first of the queue a later start than was reserved.
@pytest.mark.parametrize("seed", [26174, 35002])
def test_seeds_that_failed_once(seed: int) -> None:
    check(seed)


def check(seed: int) -> None:
    chance = random.Random(f"backfill {seed}")
    snapshot, policy = with_run_times(*random_snapshot(random.Random(seed)), chance)
    plan = schedule(snapshot, policy)
    assert not (wrong := problems(snapshot, policy, plan)), f"seed {seed}: {wrong}"


def test_random_queues_have_some_who_pass_by_taking_room_back() -> None:
    """Or the test above would show nothing."""
    passed = 0
    for seed in range(500):
        chance = random.Random(f"backfill {seed}")
        snapshot, policy = with_run_times(*random_snapshot(random.Random(seed)), chance)
        plan = schedule(snapshot, policy)
        head = refused_for_room(snapshot, plan)
        order = {e.id: i for i, e in enumerate(snapshot.queued)}
        passed += head is not None and any(order[e] > order[head.id] for e in plan.reserved)
    assert passed >= 5


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_the_quick_no_of_a_reservation_changes_no_decision(first_seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = []
    for seed in range(first_seed, first_seed + PER_CASE):
        chance = random.Random(seed)
        cases.append(with_run_times(*random_snapshot(chance), chance))
    quick = [schedule(*case) for case in cases]
    monkeypatch.setattr(Reservation, "may_let_pass", lambda self, _execution: self.shadow_s < math.inf)
    assert [schedule(*case) for case in cases] == quick


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_counting_where_there_is_surely_no_room_changes_no_decision(
    first_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [crowded(seed) for seed in range(first_seed, first_seed + PER_CASE)]
    cases += [unlike(*case, random.Random(f"unlike {number}")) for number, case in enumerate(cases, first_seed)]
    quick = [schedule(*case) for case in cases]
    monkeypatch.setattr(CapacityCheck, "may_have_room", lambda *_: True)
    monkeypatch.setattr(CapacityCheck, "settle", lambda _, columns: (columns.count >= 0, columns.count < 0))
    for case, plan in zip(cases, quick, strict=True):
        slow = schedule(*case)
        assert (slow.starts, slow.elastic, slow.reserved) == (plan.starts, plan.elastic, plan.reserved)
        assert slow.preempt == plan.preempt


def crowded(seed: int) -> tuple[Snapshot, Policy]:
    """Few nodes, on which much runs that ends one by one, and a long queue of small and large ones."""
    chance = random.Random(f"crowded {seed}")
    nodes: list[Any] = []
    queued: list[Any] = []
    active: list[Any] = []
    for number in range(4):
        one, policy = random_snapshot(chance)
        nodes += [replace(node, name=f"n{number}{node.name}") for node in one.nodes[:1]]
        queued += [renamed(execution, f"q{number}{execution.id}") for execution in one.queued]
    for execution in queued[:6]:
        placements = admit(execution, ServicePlacer(Ledger(nodes, active), policy))
        if isinstance(placements, tuple):
            active.append(apply(execution, StartPlanned(at_s=chance.uniform(0, 9), placements=placements)))
    snapshot, policy = with_run_times(Snapshot(10.0, tuple(nodes), tuple(queued[6:]), tuple(active)), policy, chance)
    mixed = [replace(e, submitted_at_s=chance.random()) for e in snapshot.queued]
    return replace(snapshot, queued=tuple(sorted(mixed, key=lambda e: e.submitted_at_s))), policy


def unlike(snapshot: Snapshot, policy: Policy, chance: random.Random) -> tuple[Snapshot, Policy]:
    """The same with labels, devices, foreign use that overdraws nodes, holds, and demands of each execution's own."""

    def node(one: Node) -> Node:
        total = replace(one.total, devices={"gpu": chance.randint(0, 3)})
        foreign = Resources(chance.choice([0, 0, 1000, total.cores_milli]), chance.choice([0, 2**28]))
        holds = (
            NodeHold(chance.choice([None, "a"]), chance.choice([5.0, 40.0]), chance.choice([None, 90.0])),
        ) * chance.choice([0, 0, 1])
        labels = dict(chance.choice(_LABELS))
        return replace(one, total=total, foreign=foreign, labels={**one.labels, **labels}, holds=holds)

    def demand(execution: Execution) -> Execution:
        components = tuple(
            replace(
                component,
                reservation=Resources(
                    component.reservation.cores_milli + chance.randint(0, 300),
                    component.reservation.memory_bytes + chance.randint(0, 2**28),
                    chance.choice([{}, {}, {"gpu": 1}]),
                ),
                labels=chance.choice(_LABELS),
            )
            for component in execution.application.components
        )
        run_s = chance.choice([None, chance.uniform(1.0, 100.0)])
        return replace(
            execution, application=replace(execution.application, components=components, expected_run_s=run_s)
        )

    nodes = tuple(map(node, snapshot.nodes))
    return replace(snapshot, nodes=nodes, queued=tuple(map(demand, snapshot.queued))), policy


def renamed(execution: Execution, name: str) -> Execution:
    fresh = Execution(name, name, execution.tenant, execution.user, execution.application, execution.submitted_at_s)
    return apply(apply(fresh, Submitted(at_s=0.0)), Queued(at_s=0.0))


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_with_conservative_backfill_nobody_delays_anybody_ahead(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        snapshot, policy = crowded(seed)
        policy = replace(policy, backfill="conservative")
        assert not (wrong := problems(snapshot, policy, schedule(snapshot, policy))), f"seed {seed}: {wrong}"


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_with_easy_nobody_waits_who_has_a_place_on_any_node_without_delaying_the_first(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        snapshot, policy = crowded(seed)
        policy = replace(policy, backfill=random.Random(seed).choice(["easy", "easy-sjbf"]))
        assert not (wrong := problems(snapshot, policy, schedule(snapshot, policy))), f"seed {seed}: {wrong}"


def test_long_queues_have_some_who_would_delay_one_that_is_not_the_first() -> None:
    """EASY protects the first alone; or the test above would show nothing of the promises to the others."""
    delayed = 0
    for seed in range(400):
        snapshot, policy = crowded(seed)
        plan = schedule(snapshot, replace(policy, backfill="easy"))
        found = reservation_problems(snapshot, replace(policy, backfill="conservative"), plan)
        delayed += any("delays" in problem for problem in found)
    assert delayed >= 10
