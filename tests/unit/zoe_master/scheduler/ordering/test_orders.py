"""Each order has its own sequence of waiting executions; orders that are equal for rigid jobs agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import ORDERS, Policy
from zoe_lib.domain.executions.execution import Execution, ServiceState
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence, rank_executions
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.ordering.virtual_time import ExecutionArrival

NOW_S = 1000.0
USED = {"default": 100.0}


def job(name: str, at_s: float, run_s: float, cores: float = 1, **changes: object) -> Execution:
    return replace(queued(name, component(cores=cores), at_s=at_s, expected_run_s=run_s), **changes)  # type: ignore[arg-type]


def tried_before(execution: Execution) -> Execution:
    """Return an execution whose first try held its services for a while."""
    ended = (
        replace(s, state=ServiceState.ENDED, started_at_s=0.0, ended_at_s=10.0, attempt=0) for s in execution.services
    )
    return replace(execution, services=(*ended, *execution.services))


def running(execution: Execution, at_s: float) -> Execution:
    placed = started(execution, "n")
    services = tuple(replace(s, state=ServiceState.READY, started_at_s=at_s) for s in placed.services)
    return replace(placed, services=services, marks={**placed.marks, "placed": at_s})


WAITING = (
    tried_before(job("first", 0, 1000)),
    job("waited-long-for-its-run", 10, 20, cores=5),
    job("small", 200, 50),
    job("deadline", 300, 5000, deadline_s=2000.0),
    job("other-tenant", 400, 6000, tenant="other"),
    job("short", 990, 10, cores=10),
)
FIRST = {
    "fifo": "first",
    "sjf": "short",
    "srpt": "short",
    "size": "small",
    "hrrn": "waited-long-for-its-run",
    "las": "waited-long-for-its-run",
    "psbs": "waited-long-for-its-run",
    "edf": "deadline",
    "fair-share": "other-tenant",
    "wfp3": "waited-long-for-its-run",
    "unicef": "small",
    "f1": "small",
    "f2": "small",
    "f3": "waited-long-for-its-run",
    "f4": "waited-long-for-its-run",
    "learned-ratio": "waited-long-for-its-run",
}


def sequence(order: str, **settings: object) -> list[str]:
    policy = Policy(order=order, **{"ageing_s": 0.0, **settings})  # type: ignore[arg-type]
    return [e.id for e in queue_sequence(Pass.from_snapshot(Snapshot(NOW_S, queued=WAITING, used=USED), policy))]


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_every_order_has_its_own_idea_of_who_is_first(order: str) -> None:
    assert sequence(order)[0] == FIRST[order]
    assert sorted(sequence(order)) == sorted(e.id for e in WAITING)


def test_no_two_orders_give_the_same_sequence_but_those_that_coincide_for_what_waits() -> None:
    by_hand = {"wfp3", "unicef", "f1", "f2", "f3", "f4"}  # test_published_orders.py
    pairs = list(combinations(sorted(ORDERS - by_hand), 2))
    same = {frozenset(pair) for pair in pairs if sequence(pair[0]) == sequence(pair[1])}
    assert same == {frozenset({"sjf", "srpt"})}


def test_running_executions_rank_by_remaining_or_used_time() -> None:
    early = replace(started(job("early", 0, 100), "n"), submitted_at_s=5.0)
    late = replace(started(job("late", 1, 60), "n"), submitted_at_s=0.0)
    early = replace(early, services=tuple(replace(s, started_at_s=1.0) for s in early.services))
    late = replace(late, marks={**late.marks, "placed": 90.0})
    ranks = {
        order: [
            e.id
            for e in rank_executions(
                [early, late], Pass.from_snapshot(Snapshot(95.0), Policy(order=order, ageing_s=0.0)).moment
            )
        ]
        for order in ("sjf", "srpt", "las")
    }
    assert ranks == {"sjf": ["late", "early"], "srpt": ["early", "late"], "las": ["late", "early"]}


def test_elastic_turns_of_the_learned_ratio_do_not_change_while_nothing_starts() -> None:
    some = [running(job(f"e{n}", float(n), 10.0**n), at_s=50.0 * n) for n in range(5)]

    def turns(now_s: float) -> list[str]:
        present = Pass.from_snapshot(Snapshot(now_s), Policy(order="learned-ratio"))
        return [e.id for e in rank_executions(some, present.moment)]

    assert turns(250.0) == turns(5000.0) == turns(1e7)


def test_psbs_serves_first_what_would_end_first_if_all_shared_the_cluster() -> None:
    """A short one passes a long one with much of its run time left, but not one that is nearly done."""
    long, early, late = job("long", 0, 100), job("early", 80, 15), job("late", 90, 15)

    def sequence_of(now_s: float, *waiting: Execution) -> list[str]:
        present = Pass.from_snapshot(Snapshot(now_s, (node("n", cores=1),), waiting), Policy(order="psbs"))
        return [e.id for e in queue_sequence(present)]

    assert sequence_of(90.0, long, early) == ["early", "long"]
    assert sequence_of(90.0, long, late) == ["long", "late"]
    assert sequence_of(2000.0, long, early, late) == ["early", "long", "late"]


def test_recently_ended_executions_had_their_share() -> None:
    ended = tuple(ExecutionArrival(f"gone{number}", 0.0, 30.0, 1000) for number in range(3))
    early, short = job("early", 0, 60), job("short", 100, 30)
    for departed, wanted in (((), "early"), (ended, "short")):
        present = Pass.from_snapshot(
            Snapshot(100.0, (node("n", cores=1),), (early, short), departed=departed), Policy(order="psbs")
        )
        assert queue_sequence(present)[0].id == wanted


def test_one_that_runs_far_over_its_expected_time_blocks_nobody() -> None:
    """SRPT keeps it first for ever, since it has no time left; with PSBS others are late in their turn."""
    monster = running(job("monster", 0, 10), at_s=0.0)
    other = running(job("other", 50, 40), at_s=50.0)

    def ranks(order: str, now_s: float) -> list[str]:
        present = Pass.from_snapshot(
            Snapshot(now_s, (node("n"),), active=(monster, other)), Policy(order=order, ageing_s=0.0)
        )
        return [e.id for e in rank_executions((monster, other), present.moment)]

    assert ranks("psbs", 80.0) == ["monster", "other"]
    assert ranks("psbs", 91.0) == ["other", "monster"]
    assert ranks("srpt", 91.0) == ["monster", "other"]


@pytest.mark.parametrize("order", ["sjf", "size", "srpt", "hrrn", "psbs", "fair-share", "f1", "f2", "f3", "f4"])
def test_in_the_end_waiting_counts_more_than_anything(order: str) -> None:
    large = job("large", 0, 1e5, cores=8)
    small = job("small", 1e9, 1, tenant="other")
    present = Pass.from_snapshot(Snapshot(1e9, queued=(small, large), used=USED), Policy(order=order))
    assert [e.id for e in queue_sequence(present)] == ["large", "small"]


@pytest.mark.parametrize("order", sorted(set(ORDERS) - {"psbs"}))
@pytest.mark.parametrize("declared_s", [5e-324, 1e-9, 0.5])
def test_no_declared_run_time_below_a_second_moves_an_execution_ahead(order: str, declared_s: float) -> None:
    """Declarations are not verified: without a minimum, a nanosecond would be worth weeks of waiting."""
    policy = Policy(order=order)
    for at_s in (0.0, 500.0, 999.0):
        queues = [(*WAITING, job("wishes", at_s, run_s, cores=3)) for run_s in (declared_s, 1.0)]
        passes = (Pass.from_snapshot(Snapshot(NOW_S, queued=queue, used=USED), policy) for queue in queues)
        first, second = ([e.id for e in queue_sequence(present)] for present in passes)
        assert first == second


@pytest.mark.parametrize("declared_s", [1e-300, 1.0])
def test_a_wrong_run_time_is_worth_a_bounded_wait(declared_s: float) -> None:
    """An hour, declared as nothing, passes an honest one for twelve halvings, and not for ever."""
    honest = job("honest", 0.0, 3600.0)
    wrong = job("wrong", 12 * Policy().ageing_s, declared_s)
    present = Pass.from_snapshot(Snapshot(12 * Policy().ageing_s, queued=(wrong, honest)), Policy())
    assert [e.id for e in queue_sequence(present)] == ["honest", "wrong"]
