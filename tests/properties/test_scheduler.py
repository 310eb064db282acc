"""Any cluster, any queue: nothing over-committed, essential services all or none, nothing startable left behind."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from lab.invariants.limits import limit_problems, line_problems
from lab.invariants.queue import queue_problems
from tests.support.checks import CHECKS
from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import GIB
from tests.support.snapshots import PER_CASE, random_snapshot, varied
from zoe_lib.domain.cluster.cluster import Node, NodeHold, never_fits
from zoe_lib.domain.cluster.policy import BACKFILLS, TENANCIES, Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.gateway import NO_GATEWAY, bearer, required_resources
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates, required_rates
from zoe_lib.domain.values.reasons import ReasonCode, holds_up_others
from zoe_lib.domain.values.resources import Resources, total
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.run_times.samples import run_key
from zoe_master.scheduler.backfill.elastic import ElasticGiving
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.capacity import capacity_of
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.queue import Pass
from zoe_master.scheduler.ordering.ranking import QueueRanking
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.admission import admit, core_requests
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.placement import ServicePlacer

_AWAY = (ReasonCode.NODES_AWAY, ReasonCode.WINDOW_AHEAD)


def check(snapshot: Snapshot, policy: Policy, plan: Plan) -> None:
    executions = {e.id: e for e in (*snapshot.queued, *snapshot.active)}
    taken: dict[str, list[Resources]] = {n.name: [] for n in snapshot.nodes}
    for execution_id, placements in (*plan.starts.items(), *plan.elastic.items()):
        execution = executions[execution_id]
        for placement in placements:
            service = execution.service(placement.service_id)
            one = execution.component_of(service)
            gateway = snapshot.nodes[0].gateway if service == bearer(execution) else NO_GATEWAY
            taken[placement.node].append(one.reservation + gateway)
            here = next(n for n in snapshot.nodes if n.name == placement.node)
            present = Pass.from_snapshot(snapshot, policy)
            assert here.open_to(execution.tenant, snapshot.now_s, present.leaves_s(execution))
            assert all(here.labels.get(k) == v for k, v in one.labels)
    ledger = Ledger(snapshot.nodes, snapshot.active)
    for name, amounts in taken.items():
        if amounts:
            assert total(amounts).fits_in(ledger.free(ledger.index[name])), f"{name} is over-committed"
    for execution_id, placements in plan.starts.items():
        ids = Counter(p.service_id for p in placements)
        assert set(ids) >= {s.id for s in executions[execution_id].core_services()}, "core only in part"
        assert max(ids.values()) == 1
    _check_preemptions(snapshot, policy, plan)
    assert not (wrong := [*limit_problems(snapshot, policy, plan), *line_problems(snapshot, policy, plan)]), wrong
    assert plan.starts.keys() | plan.reasons.keys() == {e.id for e in snapshot.queued}
    assert not plan.starts.keys() & plan.reasons.keys()
    _check_nothing_left_behind(snapshot, policy, plan)


def _check_preemptions(snapshot: Snapshot, policy: Policy, plan: Plan) -> None:
    """Only elastic services that hold a node go, only for a core that waits, and only where the policy lets them."""
    assert not plan.preempt or policy.preemption == "elastic"
    active = {e.id: e for e in snapshot.active}
    for execution_id, services in plan.preempt.items():
        for service_id in services:
            service = active[execution_id].service(service_id)
            assert not service.core
            assert service.alive
            assert service.node is not None
    if plan.preempt:
        assert any(reason.code is ReasonCode.MAKING_ROOM for reason in plan.reasons.values())


def _check_nothing_left_behind(snapshot: Snapshot, policy: Policy, plan: Plan) -> None:
    """The first that waits for room finds none even now; and no elastic service that fits was left out."""
    placer, present = _after(snapshot, policy, plan), Pass.from_snapshot(snapshot, policy)
    first: Execution | None = None
    for execution in snapshot.queued:
        reason = plan.reasons.get(execution.id)
        if reason is not None and holds_up_others(reason):
            first = execution
        if reason is not None and reason.code is ReasonCode.NEVER_FITS:
            assert never_fits(execution.application, snapshot.nodes) is not None
        if reason is not None and reason.code in (ReasonCode.NODES_AWAY, ReasonCode.WINDOW_AHEAD):
            assert never_fits(execution.application, snapshot.nodes) is None
            empty = Ledger([replace(node, foreign=Resources()) for node in snapshot.nodes], ())
            assert not isinstance(
                admit(execution, ServicePlacer(empty, policy, present.span, leaves_s=present.leaves_s)), tuple
            )
        if reason is not None and reason.code is ReasonCode.FOREIGN_USE:
            assert never_fits(execution.application, snapshot.nodes) is None
            idle = ServicePlacer(Ledger(snapshot.nodes, ()), policy, present.span, leaves_s=present.leaves_s)
            assert not isinstance(admit(execution, idle), tuple)
    # Cores of several kinds are packed by rules of thumb, which may find room in less and not in more.
    if first is not None and len(first.application.core_groups) == 1:
        for execution in snapshot.active if policy.preemption == "elastic" else ():
            for service in execution.elastic_services():
                if service.node is not None and service.alive:
                    placer.ledger.give_back(
                        placer.ledger.index[service.node], execution.component_of(service).reservation
                    )
        assert not isinstance(admit(first, placer), tuple), "it could have started, or taken its room back"
    promised = policy.preemption == "none" and policy.backfill != "none" and first is not None
    if not plan.starts and not plan.elastic and not promised:
        # Beside the room kept for essential services that are waiting for it.
        beside, holdings = _after(snapshot, policy, plan), TenantReservations(snapshot.active, policy)
        for execution in snapshot.queued:
            if execution.id in plan.reserved:
                holdings.take(execution, execution.application.core_resources())
        giving = ElasticGiving(beside, holdings, snapshot.now_s)
        assert not giving.in_order(snapshot.active, policy.placements_per_tick_max)


def _after(snapshot: Snapshot, policy: Policy, plan: Plan) -> ServicePlacer:
    ledger = Ledger(snapshot.nodes, snapshot.active)
    executions = {e.id: e for e in (*snapshot.queued, *snapshot.active)}
    for execution_id, placements in (*plan.starts.items(), *plan.elastic.items(), *plan.reserved.items()):
        for p in placements:
            execution = executions[execution_id]
            ledger.take(
                ledger.index[p.node], required_resources(execution, execution.service(p.service_id), ledger.gateway)
            )
    return ServicePlacer(ledger, policy)


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_plans_are_sound_and_leave_nothing_behind(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        check_seed(seed)


# A core without memory is kept for a tenant that holds more memory than its limit; a mixture was packed too late.
@pytest.mark.parametrize("seed", [7720, 76559])
def test_seeds_that_failed_once(seed: int) -> None:
    check_seed(seed)


def check_seed(seed: int) -> None:
    snapshot, policy = random_snapshot(random.Random(seed))
    snapshot, policy = varied(snapshot, policy, random.Random(f"varied {seed}"))
    plan = schedule(snapshot, policy)
    try:
        check(snapshot, policy, plan)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
    assert not (wrong := list(queue_problems(snapshot, policy, plan))), f"seed {seed}: {wrong}"
    assert plan == schedule(snapshot, policy), f"seed {seed}: not the same plan again"
    check_refusals(snapshot, policy)
    ranking = QueueRanking(policy, snapshot.past_runs, snapshot.queued, capacity_of(snapshot.nodes))
    kept = replace(snapshot, queued=ranking.snapshot())
    assert plan == schedule(kept, policy), f"seed {seed}: another plan for a queue that is kept ranked"


def test_learned_run_times_order_the_queue_and_make_no_reservation_beside_a_time_limit() -> None:
    for seed in range(PER_CASE):
        chance = random.Random(f"learned {seed}")
        snapshot, policy = varied(*random_snapshot(chance), chance)
        policy = replace(policy, order="learned-ratio")
        known = {run_key(e): chance.choice([1.0, 50.0, 5000.0]) for e in (*snapshot.queued, *snapshot.active)}
        snapshot = replace(snapshot, past_runs=known)
        plan = schedule(snapshot, policy)
        check(snapshot, policy, plan)
        assert not (wrong := list(queue_problems(snapshot, policy, plan))), f"seed {seed}: {wrong}"
        ranking = QueueRanking(policy, snapshot.past_runs, snapshot.queued, capacity_of(snapshot.nodes))
        assert plan == schedule(replace(snapshot, queued=ranking.snapshot()), policy), f"seed {seed}: kept ranked"


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_tenants_whose_limit_is_just_what_they_hold_take_it_back_from_their_own(first_seed: int) -> None:
    plans = [check_at_the_limit(seed) for seed in range(first_seed, first_seed + PER_CASE)]
    assert any(plan.preempt for plan in plans), "this tries nothing"


# What one tenant's limit took back was no room any more for those whose turn came next in the same pass.
@pytest.mark.parametrize("seed", [12827])
def test_seeds_at_the_limit_that_failed_once(seed: int) -> None:
    check_at_the_limit(seed)


def check_at_the_limit(seed: int) -> Plan:
    chance = random.Random(seed)
    snapshot, policy = random_snapshot(chance)
    holdings = TenantReservations(snapshot.active, Policy(tenants="drf")).reserved_by("default")
    cores_and_memory = (holdings.cores_milli + chance.choice([0, 1000]), holdings.memory_bytes + 16 * GIB)
    limit = tenant_limit(*cores_and_memory)
    policy = replace(policy, backfill=chance.choice(sorted(BACKFILLS)), tenant_limits={"*": limit})
    plan = schedule(snapshot, policy)
    check(snapshot, policy, plan)
    assert not (wrong := list(queue_problems(snapshot, policy, plan))), f"seed {seed}: {wrong}"
    of_users = {"*": user_limit(*cores_and_memory)}
    alone = schedule(snapshot, replace(policy, tenant_limits={}, user_limits=of_users))
    assert _given(plan) == _given(alone), f"seed {seed}: the same limit of the only user decides otherwise"
    return plan


def with_users(snapshot: Snapshot, policy: Policy, chance: random.Random) -> tuple[Snapshot, Policy]:
    """Return the same with several users in several tenants, all or some with limits."""

    def somebodys(execution: Execution) -> Execution:
        run_s = chance.choice([0.5, 5.0, 50.0, None])
        application = replace(execution.application, expected_run_s=run_s)
        return replace(
            execution, tenant=chance.choice("ab"), user=chance.choice(["ada", "eve"]), application=application
        )

    limit = user_limit(chance.choice([None, 1000, 3000, 5000]), chance.choice([None, 2 * GIB, 6 * GIB]))
    of_tenant = tenant_limit(chance.choice([None, 2000, 5000]), chance.choice([None, 4 * GIB]))
    policy = replace(
        policy,
        backfill=chance.choice(sorted(BACKFILLS)),
        tenants=chance.choice(sorted(TENANCIES)),
        tenant_limits=chance.choice([{}, {"a": of_tenant}, {"*": of_tenant}]),
        user_limits=chance.choice([{"a": limit}, {"*": limit}, {"a": limit, "*": user_limit(cores_milli=4000)}]),
        preemption=chance.choice(["elastic", "elastic", "none"]),
    )
    queue, active = (tuple(map(somebodys, executions)) for executions in (snapshot.queued, snapshot.active))
    return replace(snapshot, queued=queue, active=active), policy


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_users_keep_within_their_limits_and_who_waits_for_one_changes_nothing_for_others(first_seed: int) -> None:
    plans = [check_users(seed) for seed in range(first_seed, first_seed + PER_CASE)]
    codes = {reason.code for plan in plans for reason in plan.reasons.values()}
    assert codes >= {ReasonCode.USER_LIMIT, ReasonCode.TENANT_LIMIT, ReasonCode.MAKING_ROOM}, "this tries nothing"


def check_users(seed: int) -> Plan:
    plain, policy = random_snapshot(random.Random(seed))
    snapshot, policy = with_users(plain, policy, random.Random(f"users {seed}"))
    plan = schedule(snapshot, policy)
    try:
        check(snapshot, policy, plan)
        assert not (wrong := list(queue_problems(snapshot, policy, plan))), wrong
        if policy.tenants == "none":  # a core has its turn before it is refused
            limited = (ReasonCode.USER_LIMIT, ReasonCode.TENANT_LIMIT)
            waits = {k for k, reason in plan.reasons.items() if reason.code in limited}
            others = schedule(replace(snapshot, queued=tuple(e for e in snapshot.queued if e.id not in waits)), policy)
            assert _given(plan) == _given(others), "one that waits for a limit changes others' placements"
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
    return plan


def _given(plan: Plan) -> tuple[object, ...]:
    return plan.starts, plan.elastic, plan.reserved, plan.preempt


def check_refusals(snapshot: Snapshot, policy: Policy) -> None:
    """Counted at once or node by node, the same filters refuse."""
    placer = ServicePlacer(Ledger(snapshot.nodes, snapshot.active), policy)
    for execution in snapshot.queued:
        for request in core_requests(execution, placer):
            by_node = Counter(name for name, _ in placer.refusals(request).values())
            assert placer.refused_by(request) == dict(by_node)


def with_storage(snapshot: Snapshot, chance: random.Random) -> Snapshot:
    """The same with a store, and wishes of some that come to about two thirds of it."""

    def wishing(execution: Execution) -> Execution:
        if chance.random() < 0.4:
            return execution
        bandwidth = Bandwidth(chance.randint(1, 60), chance.choice([None, 30]), chance.choice(list(Guarantee)))
        run_s = chance.choice([None, chance.uniform(1, 100)])
        application = replace(execution.application, storage=StorageDemand(bandwidth=bandwidth), expected_run_s=run_s)
        return replace(execution, application=application)

    return replace(
        snapshot,
        queued=tuple(map(wishing, snapshot.queued)),
        active=tuple(map(wishing, snapshot.active)),
        storage=BandwidthSupply(Rates(100, 50)),
    )


def guaranteed(executions: Iterable[Execution]) -> Rates:
    return sum((wish for e in executions if (wish := required_rates(e.application)) is not None), Rates())


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_guarantees_are_never_over_committed_and_who_waits_for_them_holds_up_nobody_else(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        check_guarantees(seed)


# Backfill held one up for another behind it that waits for bandwidth; or did not say that it waits for bandwidth.
@pytest.mark.parametrize("seed", [2244, 6938, 15495, 83932])
def test_seeds_with_guarantees_that_failed_once(seed: int) -> None:
    check_guarantees(seed)


def check_guarantees(seed: int) -> None:
    plain, policy = random_snapshot(random.Random(seed))
    chance = random.Random(f"storage {seed}")
    snapshot = with_storage(plain, chance)
    policy = replace(policy, backfill=chance.choice(sorted(BACKFILLS)))
    plan = schedule(snapshot, policy)
    try:
        check(snapshot, policy, plan)
        held, started = guaranteed(snapshot.active), [e for e in snapshot.queued if e.id in plan.starts]
        more = guaranteed(started)
        room = Rates(100, 50) - held
        assert more.fits_in(room), "more is guaranteed than there is"
        waits = {k for k, reason in plan.reasons.items() if reason.code is ReasonCode.STORAGE_BANDWIDTH}
        without = replace(snapshot, queued=tuple(e for e in snapshot.queued if e.id not in waits))
        others = schedule(without, policy)
        assert plan.starts == others.starts, "one that waits for bandwidth changes others' starts"
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_a_store_changes_nothing_for_those_who_require_nothing_of_it(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        snapshot, policy = random_snapshot(random.Random(seed))
        snapshot, policy = varied(snapshot, policy, random.Random(f"varied {seed}"))
        assert schedule(snapshot, policy) == schedule(replace(snapshot, storage=BandwidthSupply(Rates(1, 1))), policy)


def with_nodes_away(snapshot: Snapshot, chance: random.Random) -> Snapshot:
    """The same with several tenants, and with most nodes drained, down, or reserved for one of them now or soon."""

    def away(one: Node) -> Node:
        since_s = chance.choice([0.0, 40.0])
        hold = NodeHold(chance.choice([None, "a"]), since_s, chance.choice([None, since_s + 20.0]))
        later = NodeHold(chance.choice([None, "a"]), since_s + 30.0, since_s + 50.0)
        return replace(one, ready=chance.random() > 0.3, holds=chance.choice([(), (hold,), (hold, later)]))

    def somebodys(execution: Execution) -> Execution:
        application = replace(execution.application, expected_run_s=chance.choice([None, 10.0, 100.0]))
        return replace(execution, tenant=chance.choice("ab"), application=application)

    return replace(
        snapshot,
        nodes=tuple(map(away, snapshot.nodes)),
        queued=tuple(map(somebodys, snapshot.queued)),
        active=tuple(map(somebodys, snapshot.active)),
    )


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_execution_waiting_for_absent_nodes_delays_no_other(first_seed: int) -> None:
    told = [check_nodes_away(seed) for seed in range(first_seed, first_seed + PER_CASE)]
    assert sum(away for away, _ in told), "this tries nothing"
    assert sum(ahead for _, ahead in told), "no window is ahead"


def check_nodes_away(seed: int) -> tuple[int, int]:
    plain, policy = random_snapshot(random.Random(seed))
    chance = random.Random(f"away {seed}")
    snapshot = with_nodes_away(plain, chance)
    policy = replace(policy, backfill=chance.choice(sorted(BACKFILLS)))
    plan = schedule(snapshot, policy)
    try:
        check(snapshot, policy, plan)
        assert not (wrong := list(queue_problems(snapshot, policy, plan))), wrong
        waits = {k for k, reason in plan.reasons.items() if reason.code in _AWAY}
        others = schedule(replace(snapshot, queued=tuple(e for e in snapshot.queued if e.id not in waits)), policy)
        assert (plan.starts, plan.reserved, plan.preempt) == (others.starts, others.reserved, others.preempt)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
    ahead = [e for e in snapshot.queued if (r := plan.reasons.get(e.id)) and r.code is ReasonCode.WINDOW_AHEAD]
    for execution in ahead:
        check_window_ahead(execution, snapshot, policy)
    return len(waits), len(ahead)


def check_window_ahead(execution: Execution, snapshot: Snapshot, policy: Policy) -> None:
    """Without the holds that have not begun, another reason keeps it, or it starts."""
    nodes = [replace(n, holds=tuple(h for h in n.holds if h.since_s <= snapshot.now_s)) for n in snapshot.nodes]
    plan = schedule(replace(snapshot, nodes=tuple(nodes)), policy)
    reason = plan.reasons.get(execution.id)
    assert reason is None or reason.code not in _AWAY, reason


@pytest.mark.parametrize("first_seed", range(0, CHECKS, PER_CASE))
def test_plans_have_room_for_gateways(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        chance = random.Random(seed)
        gateway = Resources(chance.choice([0, 50, 500]), chance.choice([0, 64 * 2**20, GIB]))
        snapshot, policy = random_snapshot(chance, gateway)
        try:
            check(snapshot, policy, schedule(snapshot, policy))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize("seed", [10144, 23511, 63916, 80734])
def test_room_kept_for_a_core_goes_to_no_elastic_service(seed: int) -> None:
    """Seeds in which an elastic service would fit only where a place is kept."""
    snapshot, policy = random_snapshot(random.Random(seed))
    plan = schedule(snapshot, policy)
    assert plan.reserved
    assert not plan.elastic
    check(snapshot, policy, plan)
    without_queue = Snapshot(snapshot.now_s, snapshot.nodes, (), snapshot.active)
    assert schedule(without_queue, policy).elastic
