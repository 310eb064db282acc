"""A deliberately wrong plan, state or journal is caught by the invariant it breaks, and the right one passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lab.invariants import Violation
from lab.invariants.capacity import capacity_problems
from lab.invariants.grants import grant_problems
from lab.invariants.journal import Journal
from lab.invariants.limits import limit_problems
from lab.invariants.promises import Promises
from lab.invariants.queue import queue_problems
from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo
from storage_bridge.simulated import SimulatedController
from tests.support.checked_replay import checking
from tests.support.limits import tenant_limit, user_limit
from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.policy import ORDERS, Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark, ServiceState
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.reasons import Reasons
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_simulator import trace as replaying
from zoe_simulator.lublin import generate

NO_ROOM = Reason(ReasonCode.NO_RESOURCES, "no room")
BEHIND = Reason(ReasonCode.BEHIND_IN_QUEUE, "behind")
EASY = replace(FIFO, backfill="easy")
CONSERVATIVE = replace(FIFO, backfill="conservative")


def job(execution_id: str, cores: float, run_s: float = 100.0, at_s: float = 0.0, elastic: int = 0) -> Execution:
    one = component(cores=cores, memory_gib=0, essential_count=1, total_count=1 + elastic)
    return queued(execution_id, one, at_s=at_s, expected_run_s=run_s)


def found(snapshot: Snapshot, policy: Policy, plan: Plan) -> str:
    return "; ".join(queue_problems(snapshot, policy, plan))


def start(execution: Execution) -> dict[str, tuple[Placement, ...]]:
    return {execution.id: (Placement(service_id=execution.services[0].id, node="n"),)}


def busy(cores: float, free: float = 0.0, **more: object) -> Snapshot:
    """One node with a job that holds so many cores until second 101, beside so many free ones."""
    return Snapshot(5.0, (node("n", cores + free),), active=(started(job("r", cores), "n"),), **more)  # type: ignore[arg-type]


# -- state -------------------------------------------------------------------------------------------------------------
def test_a_node_that_is_over_committed() -> None:
    both = [started(job("a", 5), "n"), started(job("b", 5), "n")]
    assert list(capacity_problems([node("n", 10)], both)) == []
    assert "over-committed" in "".join(capacity_problems([node("n", 9)], both))


def test_half_a_core_and_one_who_waits_and_holds() -> None:
    whole = started(queued("x", component(essential_count=2)), "n", "n")
    half = replace(whole, services=(whole.services[0], replace(whole.services[1], node=None)))
    assert list(capacity_problems([node("n")], [whole])) == []
    assert list(capacity_problems([node("n")], [half])) == ["x is starting without its whole core"]
    waiting = replace(whole, state=ExecutionState.QUEUED)
    assert list(capacity_problems([node("n")], [waiting])) == ["x waits and holds n"]


def test_a_journal_that_tells_otherwise() -> None:
    store = MemoryStore()
    journal = Journal(store)
    fresh = replace(job("x", 1), state=ExecutionState.SUBMITTED, version=0, services=(), marks={})
    stored = store.submit(fresh, "test")
    stored = store.append(stored.id, [ev.Queued(at_s=1.0)], stored.version, None)
    assert list(journal.problems([stored])) == []
    assert "differ" in "".join(journal.problems([replace(stored, priority=7)]))
    assert "differ" in "".join(journal.problems([]))


def test_an_illegal_transition_in_the_journal() -> None:
    store = MemoryStore()
    journal = Journal(store)
    stored = store.submit(
        replace(job("x", 1), version=0, services=(), state=ExecutionState.SUBMITTED, marks={}), "test"
    )
    store._state.record(stored, [ev.Running(at_s=1.0)])  # a store that does not ask the lifecycle
    assert "Running is illegal" in "".join(journal.problems([stored]))


# -- plans -------------------------------------------------------------------------------------------------------------
def test_one_that_is_forgotten() -> None:
    snapshot = busy(4, queued=(job("a", 1),))
    assert found(snapshot, FIFO, Plan()) == "a neither starts nor has a reason to wait"


def test_a_core_refused_though_it_fits() -> None:
    snapshot = busy(4, free=2, queued=(job("a", 2),))
    assert found(snapshot, FIFO, schedule(snapshot, FIFO)) == ""
    assert "its core fits" in found(snapshot, FIFO, Plan(reasons=Reasons({"a": NO_ROOM})))


def test_one_told_to_need_a_node_that_is_away_though_it_does_not() -> None:
    nodes = (node("n", 4), node("large", 16, ready=False))
    wrong = Plan(reasons=Reasons({"a": Reason(ReasonCode.NODES_AWAY, "away")}))
    needs, does_not = (Snapshot(5.0, nodes, (job("a", cores),)) for cores in (16, 4))
    assert found(needs, FIFO, wrong) == ""
    assert "fits on the present nodes" in found(does_not, FIFO, wrong)


def test_a_core_refused_before_elastic_services_were_released() -> None:
    hog = started(job("hog", 2, elastic=2), "n", "n", "n")
    snapshot = Snapshot(5.0, (node("n", 6),), active=(hog,), queued=(job("a", 3),))
    wrong = Plan(reasons=Reasons({"a": NO_ROOM}))
    assert "once elastic services give way" in found(snapshot, FIFO, wrong)
    stay = replace(FIFO, preemption="none")
    assert found(snapshot, stay, wrong) == ""  # where they stay, it is right
    for policy in (FIFO, stay):
        assert found(snapshot, policy, schedule(snapshot, policy)) == ""


LIMITS = pytest.mark.parametrize(
    ("policy", "code", "whose"),
    [
        (replace(FIFO, tenant_limits={"*": tenant_limit(cores_milli=3000)}), ReasonCode.TENANT_LIMIT, "default"),
        (replace(FIFO, user_limits={"*": user_limit(cores_milli=3000)}), ReasonCode.USER_LIMIT, "ada in default"),
    ],
)


@LIMITS
def test_one_that_gets_or_is_kept_more_than_a_limit(policy: Policy, code: ReasonCode, whose: str) -> None:
    right, wrong = (busy(2, free=6, queued=(job("a", cores),)) for cores in (1, 2))
    assert list(limit_problems(right, policy, Plan(starts=start(right.queued[0])))) == []
    assert list(limit_problems(right, policy, Plan(reserved=start(right.queued[0])))) == []
    assert f"{whose} gets more" in "".join(limit_problems(wrong, policy, Plan(starts=start(wrong.queued[0]))))
    assert f"kept for {whose} beyond" in "".join(limit_problems(wrong, policy, Plan(reserved=start(wrong.queued[0]))))
    assert code in {reason.code for reason in schedule(wrong, policy).reasons.values()}


@LIMITS
def test_one_refused_for_a_limit_that_elastic_services_fill(policy: Policy, code: ReasonCode, whose: str) -> None:
    hog = started(job("hog", 1, elastic=2), "n", "n", "n")
    snapshot = Snapshot(5.0, (node("n", 6),), active=(hog,), queued=(job("a", 2),))
    wrong = Plan(reasons=Reasons({"a": Reason(code, "full")}))
    assert "though elastic services fill it" in "".join(limit_problems(snapshot, policy, wrong))
    assert list(limit_problems(snapshot, replace(policy, preemption="none"), wrong)) == []
    assert list(limit_problems(snapshot, policy, schedule(snapshot, policy))) == []
    cores = replace(snapshot, queued=(job("a", 3),))
    assert list(limit_problems(cores, policy, wrong)) == []


def test_one_that_waits_behind_nobody() -> None:
    assert (
        found(busy(4, free=2, queued=(job("a", 2),)), FIFO, Plan(reasons=Reasons({"a": BEHIND})))
        == "a waits behind no other"
    )


def test_one_left_behind_that_easy_lets_pass() -> None:
    """Two cores are free until 101 s, when the first of the queue can start."""
    snapshot = busy(4, free=2, queued=(job("head", 6), job("short", 2, run_s=50.0), job("long", 2, run_s=500.0)))
    right = schedule(snapshot, EASY)
    assert set(right.starts) == {"short"}
    assert found(snapshot, EASY, right) == ""
    wrong = Plan(reasons=Reasons({"head": NO_ROOM, "short": BEHIND, "long": BEHIND}))
    assert found(snapshot, EASY, wrong) == "short was left behind, though it fits and ends before head can start"
    assert found(snapshot, FIFO, wrong) == ""  # without backfill no execution passes


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_one_that_overtakes_against_the_order(order: str) -> None:
    """`early` and `late` ask for the same, so every order serves the earlier one first."""
    early, late = job("early", 3, at_s=0.0), job("late", 3, at_s=2.0)
    snapshot = busy(4, free=3, queued=(early, late))
    policy = replace(FIFO, order=order)
    assert found(snapshot, policy, schedule(snapshot, policy)) == ""
    wrong = Plan(starts=start(late), reasons=Reasons({"early": NO_ROOM}))
    assert "early comes before late" in found(snapshot, policy, wrong)
    full = busy(4, queued=(early, late))
    assert "early comes before late" in found(full, policy, Plan(reasons=Reasons({"late": NO_ROOM, "early": BEHIND})))


def test_one_whose_tenant_used_more_than_its_due() -> None:
    """`b` came later and used less."""
    a, b = replace(job("a", 3, at_s=0.0), tenant="a"), replace(job("b", 3, at_s=1.0), tenant="b")
    snapshot = replace(busy(4, free=3, queued=(a, b)), used={"a": 90.0, "b": 10.0})
    policy = replace(FIFO, order="fair-share")
    assert found(snapshot, policy, schedule(snapshot, policy)) == ""
    assert "b comes before a" in found(snapshot, policy, Plan(starts=start(a), reasons=Reasons({"b": NO_ROOM})))
    theirs = replace(policy, tenant_shares={"a": 100.0})
    assert "a comes before b" in found(snapshot, theirs, Plan(starts=start(b), reasons=Reasons({"a": NO_ROOM})))


def test_one_whose_turn_is_not_by_dominant_shares() -> None:
    """`a` came first and again; `b` holds nothing when the second of `a` has its turn."""
    first, second = (replace(job(f"a{i}", 1, at_s=float(i)), tenant="a") for i in (0, 1))
    other = replace(job("b", 1, at_s=2.0), tenant="b")
    snapshot, policy = busy(4, free=2, queued=(first, second, other)), replace(FIFO, tenants="drf")
    right = schedule(snapshot, policy)
    assert set(right.starts) == {"a0", "b"}
    assert found(snapshot, policy, right) == ""
    wrong = Plan(starts=start(first) | start(second), reasons=Reasons({"b": NO_ROOM}))
    assert "b comes before a1" in found(snapshot, policy, wrong)


def test_one_that_would_end_later_in_processor_sharing() -> None:
    """The longer one came so much earlier that it would have ended first, had both run; by `sjf` it would come last."""
    long, short = job("long", 3, run_s=50.0, at_s=0.0), job("short", 3, run_s=40.0, at_s=30.0)
    snapshot = replace(busy(8, free=3, queued=(long, short)), now_s=40.0)
    policy = replace(FIFO, order="psbs")
    assert found(snapshot, policy, schedule(snapshot, policy)) == ""
    wrong = Plan(starts=start(short), reasons=Reasons({"long": NO_ROOM}))
    assert "long comes before short" in found(snapshot, policy, wrong)
    by_size = replace(FIFO, order="sjf", ageing_s=0.0)
    plan = Plan(starts=start(long), reasons=Reasons({"short": NO_ROOM}))
    assert "short comes before long" in found(snapshot, by_size, plan)


def test_one_that_overtakes_an_earlier_deadline() -> None:
    soon = replace(job("soon", 3, at_s=2.0), deadline_s=100.0)
    later, never = replace(job("later", 3, at_s=1.0), deadline_s=200.0), job("never", 3, at_s=0.0)
    snapshot, policy = busy(4, free=3, queued=(never, later, soon)), replace(FIFO, order="edf")
    assert found(snapshot, policy, schedule(snapshot, policy)) == ""
    for wrong in (later, never):
        plan = Plan(starts=start(wrong), reasons=Reasons({"soon": NO_ROOM}))
        assert f"soon comes before {wrong.id}" in found(replace(snapshot, queued=(wrong, soon)), policy, plan)


@pytest.mark.parametrize("order", ["sjf", "size"])
def test_ageing_bounds_how_long_short_ones_overtake(order: str) -> None:
    """A job of 1024 times the size may be overtaken for ten times `ageing_s`, and no longer."""
    policy = replace(FIFO, order=order, ageing_s=10.0)
    large, small = job("large", 3, run_s=1024.0, at_s=0.0), job("small", 3, run_s=1.0, at_s=99.0)
    wrong = Plan(starts=start(small), reasons=Reasons({"large": NO_ROOM}))
    for at_s, problem in ((100.0, ""), (201.0, "large comes before small")):
        late = replace(small, submitted_at_s=at_s - 1.0)
        snapshot = replace(busy(4, free=3, queued=(large, late)), now_s=at_s)
        text = found(snapshot, policy, wrong)
        assert problem in text
        assert bool(text) == bool(problem)


def test_a_promise_that_a_backfilled_one_breaks() -> None:
    head = job("head", 6)
    before = busy(4, free=2, queued=(head,))
    promises = Promises()
    refused = Plan(reasons=Reasons({"head": NO_ROOM}))
    assert promises.problems(before, EASY, refused) == []
    long = job("long", 2, run_s=500.0, at_s=2.0)
    after = replace(before, now_s=6.0, queued=(head, long))
    (problem,) = promises.problems(after, EASY, Plan(starts=start(long), reasons=Reasons({"head": NO_ROOM})))
    assert problem == "head could expect to start at 101 s, and now at 506 s"


def test_a_promise_is_not_broken_by_a_node_that_goes() -> None:
    head = job("head", 6)
    before = busy(4, free=2, queued=(head,))
    promises, refused = Promises(), Plan(reasons=Reasons({"head": NO_ROOM}))
    promises.problems(before, EASY, refused)
    gone = replace(before, nodes=(replace(before.nodes[0], ready=False),))
    assert promises.problems(gone, EASY, refused) == []


# -- through the master ------------------------------------------------------------------------------------------------
def starts_the_last_first(snapshot: Snapshot, policy: Policy) -> Plan:
    turned = tuple(replace(e, submitted_at_s=-e.submitted_at_s) for e in snapshot.queued)
    return schedule(replace(snapshot, queued=turned), policy)


def starts_nothing_while_something_runs(snapshot: Snapshot, policy: Policy) -> Plan:
    if not snapshot.active:
        return schedule(snapshot, policy)
    return Plan(reasons=Reasons({e.id: NO_ROOM if n == 0 else BEHIND for n, e in enumerate(snapshot.queued)}))


def forgets_what_runs(snapshot: Snapshot, policy: Policy) -> Plan:
    return schedule(replace(snapshot, active=()), policy)


def never_backfills(snapshot: Snapshot, policy: Policy) -> Plan:
    return schedule(snapshot, replace(policy, backfill="none"))


def protects_the_first_alone(snapshot: Snapshot, policy: Policy) -> Plan:
    return schedule(snapshot, EASY)


@pytest.mark.parametrize(
    ("policy", "wrong", "said"),
    [
        (EASY, starts_the_last_first, "comes before|could expect"),
        (EASY, starts_nothing_while_something_runs, "its core fits"),
        (EASY, forgets_what_runs, "over-committed"),
        (EASY, never_backfills, "left behind"),
        (CONSERVATIVE, protects_the_first_alone, "has a place, and delays"),
        (CONSERVATIVE, never_backfills, "left behind, though it would delay no other"),
    ],
)
def test_a_wrong_scheduler_is_caught_in_a_replay(
    policy: Policy, wrong: Callable[[Snapshot, Policy], Plan], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = generate(200, 32, seed=3, overestimate=2.0)
    replaying.Replay(trace, policy, check=checking).run()
    monkeypatch.setattr("zoe_master.loop.master.schedule", wrong)
    with pytest.raises(Violation, match=said):
        replaying.Replay(trace, policy, check=checking).run()


def test_promises_of_bandwidth_that_are_not_kept() -> None:
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    wish = StorageDemand(bandwidth=Bandwidth(60, None, Guarantee.REQUIRED))
    placed = started(queued("one", component(), storage=wish), "n")
    running = replace(placed, services=tuple(replace(s, state=ServiceState.READY) for s in placed.services))
    assert list(grant_problems([placed], controller)) == []
    assert "one runs before" in "".join(grant_problems([running], controller))
    withdrawn = replace(running, marks={**running.marks, Mark.STORAGE_WITHDRAWN: 2.0})
    assert "after it was withdrawn" in "".join(grant_problems([withdrawn], controller))
    granted = replace(running, marks={**running.marks, Mark.STORAGE_GRANTED: 2.0})
    assert "the controller holds Rates(read=0" in "".join(grant_problems([granted], controller))
    controller.set_slo("default", BandwidthSlo(120))
    assert list(grant_problems([granted], controller)) == []
    assert "of 100 bytes" in "".join(grant_problems([granted, replace(granted, id="two")], controller))
