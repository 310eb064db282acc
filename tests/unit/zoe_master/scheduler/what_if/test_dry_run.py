"""The effect of another policy, without applying it."""

from __future__ import annotations

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.cluster.policy import Policy
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.dry_run import DryRun, dry_run

LONG = queued("long", component(cores=6), at_s=1, expected_run_s=9000.0)
SHORT = queued("short", component(cores=3), at_s=2, expected_run_s=10.0)
GREEDY = started(queued("greedy", component(cores=1, total_count=4)), *["n"] * 4)
NOW = Snapshot(10.0, (node("n", cores=8),), (LONG, SHORT), (GREEDY,))


def test_it_shows_the_sequence_the_starts_and_the_cost_to_elastic_services() -> None:
    assert dry_run(NOW, FIFO) == DryRun(("long", "short"), (), 2)
    assert dry_run(NOW, Policy(order="sjf", backfill="none")) == DryRun(("short", "long"), ("short",), 0)


def test_holds_are_those_of_the_policy_that_is_tried() -> None:
    assert dry_run(NOW, Policy(order="sjf", node_holds={"n": NodeHold()})).starts == ()


def test_waiting_executions_that_may_not_end_before_a_hold_are_counted() -> None:
    now = Snapshot(10.0, (node("n", cores=8),), (*NOW.queued, queued("unlimited"), queued("large", component(cores=9))))
    soon = Policy(node_holds={"n": NodeHold(since_s=100.0)})
    ahead = dry_run(now, soon)
    assert (ahead.window_ahead, ahead.without_limit) == (2, 1)  # long and unlimited
    assert dry_run(now, Policy()).window_ahead == 0
