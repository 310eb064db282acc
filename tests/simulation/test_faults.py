"""Random applications under random faults, each run drawn from one seed, every invariant checked after every tick.

There is one run, of a hundred ticks and more, for thirty of `CHECKS`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace

import pytest

from lab.faults.kinds import Fault, occurrences
from lab.faults.run import FaultRun
from lab.invariants import Violation
from storage_bridge.bandwidth.assignment import Capacity
from tests.simulation.world import node, random_application, random_behaviour
from tests.support.checks import of_checks
from tests.support.limited_controller import Limited
from tests.support.limits import tenant_limit, user_limit
from zoe_lib.domain.applications.application import Application, ApplicationKind
from zoe_lib.domain.cluster.policy import Policy, limits_of
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.loop.observer import ServiceObserver

RUNS = of_checks(1 / 60, 2_500)
FEWER_RUNS = of_checks(1 / 120, 500)
SPAN_S = 600.0
POLICIES = [
    Policy(),
    Policy(backfill="easy"),
    Policy(order="sjf", backfill="easy-sjbf"),
    Policy(order="size", backfill="conservative"),
    Policy(order="hrrn", preemption="none"),
    Policy(order="psbs", backfill="easy"),
    Policy(order="fair-share", tenants="drf", tenant_shares={"physics": 2.0}),
    Policy(tenants="drf", interactive_share=0.5),
    Policy(order="fifo", interactive_share=0.5, backfill="easy", preemption="none"),
    Policy(order="las", tenants="drf", backfill="conservative", preemption="none"),
]

BEYOND = (ReasonCode.TENANT_LIMIT, ReasonCode.USER_LIMIT)
LIMITS = {
    "tenant_limits": {"physics": tenant_limit(cores_milli=8000)},
    "user_limits": {"*": user_limit(cores_milli=5000, memory_bytes=16 * 2**30)},
}


def wishing(application: Application, chance: random.Random) -> Application:
    """Some require, some prefer a part of the store's throughput."""
    if chance.random() < 0.5:
        return application
    bandwidth = Bandwidth(chance.randint(1, 500), chance.choice([None, 100]), chance.choice(list(Guarantee)))
    return replace(application, storage=StorageDemand(bandwidth=bandwidth))


def a_run(
    seed: int, faults: int = 25, most: int = 1000, users: Sequence[str] = ("ada",), changes: int = 0, **policy: object
) -> FaultRun:
    """`most`: what the storage controller promises one tenant, of the 1,000 that it can move; `policy`: what of it.

    `changes`: how often another policy is set meanwhile, every second time with limits.
    """
    chance = random.Random(seed)
    executions = [
        Execution(
            f"e{number:04}",
            "app",
            chance.choice(["physics", "biology"]),
            users[number % len(users)],
            replace(
                wishing(random_application(chance), chance),
                kind=ApplicationKind.BATCH if number % 3 else ApplicationKind.INTERACTIVE,
            ),
            round(chance.uniform(0, SPAN_S), 3),
            priority=chance.choice([0, 0, 0, 1]),
        )
        for number in range(30)
    ]
    nodes = [node(f"n{number}", cores=4, memory_gib=16) for number in range(3)]
    return FaultRun(
        nodes,
        executions,
        lambda _: random_behaviour(chance),
        replace(POLICIES[seed % len(POLICIES)], **policy),  # type: ignore[arg-type]
        occurrences(seed, faults, 0.0, SPAN_S),
        Limited(Capacity(proxy=1000, nodes={"s": 1000}), most),
        [
            (chance.uniform(0, SPAN_S), replace(chance.choice(POLICIES), **(LIMITS if number % 2 else {})))  # type: ignore[arg-type]
            for number in range(changes)
        ],
    )


@pytest.mark.parametrize("seed", range(RUNS))
def test_whatever_goes_wrong_everything_ends_and_every_invariant_holds(seed: int) -> None:
    run = a_run(seed)
    executions = run.run()
    assert len(executions) == 30
    left = [execution for execution in executions if not execution.terminal]
    assert all(e.reason is not None and e.reason.code is ReasonCode.NEVER_FITS for e in left)
    assert sum(run.occurred.values()) > 0


@pytest.mark.parametrize("seed", range(FEWER_RUNS))
def test_a_controller_that_refuses_a_tenant_part_of_what_it_wants_holds_up_nothing_for_ever(seed: int) -> None:
    assert all(
        e.terminal or (e.reason is not None and e.reason.code is ReasonCode.NEVER_FITS)
        for e in a_run(seed, most=550, faults=seed % 2 * 25).run()
    )


@pytest.mark.parametrize("seed", range(FEWER_RUNS))
def test_limits_hold_whatever_goes_wrong_and_stop_for_ever_only_who_is_beyond_one_alone(seed: int) -> None:
    run = a_run(seed, users=("ada", "eve"), **LIMITS)
    policy = replace(Policy(), **LIMITS)  # type: ignore[arg-type]
    for execution in run.run():
        if not execution.terminal:
            reason = execution.reason
            assert reason is not None
            assert reason.code is ReasonCode.NEVER_FITS or (reason.code in BEYOND and too_large(execution, policy))
    told = {
        entry.data["reason"]["code"]
        for entry in run.store.another().journal(0, 10_000)
        if entry.kind == "reason_changed"
    }
    assert ReasonCode.USER_LIMIT in told, "this tries nothing"


@pytest.mark.parametrize("seed", range(FEWER_RUNS))
def test_policies_and_limits_that_change_while_executions_wait_and_run_leave_nobody_behind(seed: int) -> None:
    run = a_run(seed, faults=seed % 2 * 25, users=("ada", "eve"), changes=8)
    for execution in run.run():
        if not execution.terminal:
            reason, last = execution.reason, run.store.another().policy()
            assert reason is not None
            assert reason.code is ReasonCode.NEVER_FITS or (reason.code in BEYOND and too_large(execution, last))


def too_large(execution: Execution, policy: Policy) -> bool:
    core = execution.application.core_resources()
    return any(
        most is not None and wanted > most
        for _, limit in limits_of(policy, execution.tenant, execution.user)
        for most, wanted in ((limit.cores_milli, core.cores_milli), (limit.memory_bytes, core.memory_bytes))
    )


# Conservative backfill with one that is expected to take no time: it holds its place for an instant all the same.
# By psbs, one that is late from the moment on in which it comes: its turn is a matter of rounding.
@pytest.mark.parametrize(
    ("seed", "policy"),
    [
        *((seed, Policy(order="size", backfill="conservative")) for seed in (304, 1025, 2712, 2754)),
        (1025, Policy(order="psbs", backfill="easy")),
    ],
)
def test_seeds_that_failed_once(seed: int, policy: Policy) -> None:
    a_run(seed, **{f.name: getattr(policy, f.name) for f in fields(policy)}).run()


def test_the_same_seed_is_the_same_run_event_for_event() -> None:
    first, second, other = a_run(5), a_run(5), a_run(10)
    assert first.run() == second.run()
    assert first.digest() == second.digest()
    assert (first.occurred, first.masters) == (second.occurred, second.masters)
    other.run()
    assert other.digest() != first.digest()


def test_every_kind_of_fault_is_drawn_and_comes_to_something() -> None:
    run = a_run(3, faults=120)
    run.run()
    assert set(run.occurred) == set(Fault)
    assert run.masters > 1


def test_without_faults_one_master_is_enough() -> None:
    run = a_run(0, faults=0)
    run.run()
    assert run.masters == 1
    assert not run.occurred


def test_a_master_that_knows_otherwise_than_the_journal_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes its state past the journal."""
    original = ServiceObserver._change

    def change(self: ServiceObserver, execution, observations, tick):  # type: ignore[no-untyped-def]
        if execution.state is ExecutionState.RUNNING:
            self._cache._executions[execution.id] = execution  # changed without the journal
            object.__setattr__(execution, "priority", execution.priority + 1)
        return original(self, execution, observations, tick)

    monkeypatch.setattr(ServiceObserver, "_change", change)
    with pytest.raises(Violation, match="the journal and the master differ on"):
        a_run(0).run()
