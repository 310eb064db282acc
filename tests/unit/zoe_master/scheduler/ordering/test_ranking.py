"""A kept sequence equals a new ranking of all, at any later time."""

from __future__ import annotations

import random

import pytest

from tests.support.scheduling import component, queued
from zoe_lib.domain.cluster.policy import ORDERS, Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.storage import StorageDemand
from zoe_lib.run_times.samples import RunKey, run_key
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.ranking import QueueRanking, RankedQueue, possibly_held, ranked_by
from zoe_master.scheduler.ordering.snapshot import Snapshot


def somebody(chance: random.Random, number: int) -> Execution:
    return queued(
        f"e{number:02}",
        component(cores=chance.choice([1, 2, 7])),
        at_s=chance.choice([0.0, 5.0, 1000.0 * chance.random()]),
        priority=chance.choice([0, 0, 3]),
        expected_run_s=chance.choice([None, 10.0, 5000.0 * chance.random()]),
    )


def sequence(executions: tuple[Execution, ...], policy: Policy, past_runs: dict[RunKey, float]) -> list[str]:
    present = Pass.from_snapshot(
        Snapshot(2000.0 + 1e6 * random.Random(1).random(), queued=executions, past_runs=past_runs), policy
    )
    return [e.id for e in queue_sequence(present)]


@pytest.mark.parametrize("order", sorted(ORDERS))
@pytest.mark.parametrize("seed", range(10))
def test_a_kept_sequence_is_that_of_ranking_anew(order: str, seed: int) -> None:
    chance = random.Random(seed)
    policy = Policy(order=order, ageing_s=chance.choice([0.0, 300.0, 36_000.0]))
    past_runs: dict[RunKey, float] = {}
    there = {e.id: e for e in (somebody(chance, n) for n in range(10))}
    ranking = QueueRanking(policy, past_runs, there.values())
    for _ in range(60):
        match chance.randrange(3):
            case 0:
                execution = somebody(chance, chance.randrange(30))
                there[execution.id] = execution
                ranking.put(execution)
            case 1:
                there.pop(gone := f"e{chance.randrange(30):02}", None)
                ranking.remove(gone)
            case 2 if there:
                learned = chance.choice(list(there.values()))
                past_runs[run_key(learned)] = 4000.0 * chance.random()
                for execution in there.values():
                    if run_key(execution) == run_key(learned):
                        ranking.put(execution)
        kept = ranking.snapshot()
        assert {e.id: e for e in kept} == there
        assert sequence(kept, policy, past_runs) == sequence(tuple(there.values()), policy, past_runs)


def test_earlier_snapshot_stays_unchanged() -> None:
    ranking = QueueRanking(Policy(order="fifo"), {}, [queued("a")])
    before = ranking.snapshot()
    ranking.put(queued("b"))
    assert [e.id for e in before] == ["a"]
    assert [e.id for e in ranking.snapshot()] == ["a", "b"]
    assert ranking.snapshot() is ranking.snapshot()


def test_under_another_policy_a_kept_sequence_is_ranked_anew() -> None:
    long, short = queued("long", at_s=1, expected_run_s=100.0), queued("short", at_s=2, expected_run_s=1.0)
    by_arrival = QueueRanking(Policy(order="fifo"), {}, [short, long]).snapshot()
    assert [e.id for e in by_arrival] == ["long", "short"]
    assert sequence(by_arrival, Policy(order="sjf"), {}) == ["short", "long"]
    by_size = QueueRanking(Policy(order="sjf", ageing_s=1e9), {}, [short, long]).snapshot()
    assert [e.id for e in by_size] == ["short", "long"]
    assert sequence(by_size, Policy(order="sjf", ageing_s=1e-3), {}) == ["long", "short"]


def test_orders_that_time_changes_are_kept_by_arrival() -> None:
    assert ranked_by(Policy(order="hrrn", ageing_s=5.0))[:2] == ("fifo", 5.0)
    assert ranked_by(Policy(order="size", ageing_s=5.0))[:2] == ("size", 5.0)


def test_execution_that_uses_the_store_may_be_held() -> None:
    plain, reader = queued("plain"), queued("reader", storage=StorageDemand())
    for some in ((plain, reader), QueueRanking(Policy(), {}, [plain, reader]).snapshot()):
        assert possibly_held(some) == {"reader"}
    assert isinstance(QueueRanking(Policy(), {}).snapshot(), RankedQueue)
