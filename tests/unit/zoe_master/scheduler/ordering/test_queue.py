from tests.support.scheduling import component, queued
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.orders import QueueContext, size
from zoe_master.scheduler.ordering.queue import Pass, queue_sequence
from zoe_master.scheduler.ordering.snapshot import Snapshot

FIFO, SIZE = Policy(order="fifo"), Policy(order="size", ageing_s=600.0)


def order(waiting: list[Execution], now_s: float, policy: Policy) -> list[str]:
    """Return the order on a cluster of unknown capacity."""
    return [e.id for e in queue_sequence(Pass.from_snapshot(Snapshot(now_s, queued=tuple(waiting)), policy))]


def test_fifo_takes_who_came_first_and_ties_by_id() -> None:
    waiting = [queued("c", at_s=2), queued("b", at_s=1), queued("a", at_s=2)]
    assert order(waiting, 10.0, FIFO) == ["b", "a", "c"]


def test_priority_comes_before_everything() -> None:
    waiting = [queued("old", at_s=1), queued("urgent", at_s=5, priority=10)]
    for policy in (FIFO, SIZE):
        assert order(waiting, 10.0, policy) == ["urgent", "old"]


def test_size_is_run_time_times_cores_and_falls_back_to_the_limit() -> None:
    now = QueueContext(0.0, SIZE, Estimates({}))
    assert size(queued("a", component(cores=2, essential_count=3), expected_run_s=10.0), now) == 60.0
    assert size(queued("a", component(cores=2), time_limit_s=10.0), now) == 20.0
    assert size(queued("a", component(cores=2)), now) == 7200.0


def test_the_smallest_goes_first() -> None:
    waiting = [queued("large", at_s=0, expected_run_s=1000.0), queued("small", at_s=5, expected_run_s=10.0)]
    assert order(waiting, 5.0, SIZE) == ["small", "large"]
    assert order(waiting, 5.0, FIFO) == ["large", "small"]


def test_ageing_lets_a_large_one_pass_small_newcomers_in_the_end() -> None:
    large = queued("large", at_s=0, expected_run_s=1024.0)
    for halvings, first in ((9, "small"), (11, "large")):
        now_s = halvings * 600.0
        small = queued("small", at_s=now_s, expected_run_s=1.0)
        assert order([large, small], now_s, SIZE)[0] == first


def test_without_ageing_size_alone_counts() -> None:
    waiting = [queued("large", at_s=0, expected_run_s=1000.0), queued("small", at_s=1e6, expected_run_s=10.0)]
    assert order(waiting, 1e6, Policy(order="size", ageing_s=0.0)) == ["small", "large"]


def test_years_of_waiting_do_not_overflow() -> None:
    waiting = [queued("old", at_s=0, expected_run_s=1.0), queued("older", at_s=-1e9, expected_run_s=1e9)]
    assert order(waiting, 1e9, SIZE) == ["older", "old"]
