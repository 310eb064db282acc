"""A pass looks at a bounded number of nodes for executions behind the first waiting one, and the next goes on there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler import queue_pass
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot

NODES = (node("a", cores=3, memory_gib=3), node("b", cores=8))
EASY = replace(FIFO, backfill="easy")
# Of two nodes, each with two kinds of services, in one room.
LOOKS = 4


def scan(*behind: Execution, scan_from: int = 0, policy: Policy = EASY) -> Plan:
    """A pass in which a large execution waits until `b` is free, and these are behind it."""
    large = queued("large", component(cores=8))
    busy = started(queued("busy", component(cores=8), expected_run_s=1000.0), "b")
    return schedule(Snapshot(1.0, NODES, (large, *behind), (busy,), scan_from=scan_from), policy)


def mixed(number: int) -> Execution:
    """Each of its two services fits on `a`, but not both."""
    name = f"mixed{number}"
    return queued(name, component("c", 1, 2), component("d", 1, 2), at_s=1.0 + number, expected_run_s=10.0)


SMALL = queued("small", component(cores=1), at_s=100.0, expected_run_s=10.0)


def test_scan_stops_at_its_bound_and_the_next_pass_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_pass, "SCAN_LOOKS", 2 * LOOKS)
    queue = [*map(mixed, range(5)), SMALL]
    plans = [scan(*queue)]
    for _ in range(2):
        plans.append(scan(*queue, scan_from=plans[-1].scan_from))
    assert [plan.scan_from for plan in plans] == [2, 4, 1]
    assert [list(plan.starts) for plan in plans] == [[], [], ["small"]]


def test_reason_tells_how_many_a_pass_examines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_pass, "SCAN_LOOKS", 2 * LOOKS)
    reasons = scan(*map(mixed, range(5)), SMALL).reasons
    assert {reasons[f"mixed{number}"].code for number in range(5)} == {ReasonCode.SCAN_LIMIT}
    assert "6 executions" in reasons["small"].sentence
    assert "examines some 2" in reasons["small"].sentence
    assert reasons["large"].code is ReasonCode.NO_RESOURCES


def test_scan_that_goes_on_in_a_shorter_queue_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_pass, "SCAN_LOOKS", 2 * LOOKS)
    assert list(scan(SMALL, scan_from=40).starts) == ["small"]


def test_whole_scan_gives_the_common_reason() -> None:
    plan = scan(*map(mixed, range(5)), SMALL)
    assert (plan.scan_from, list(plan.starts)) == (0, ["small"])
    assert plan.reasons["mixed0"].code is ReasonCode.BEHIND_IN_QUEUE


def test_conservative_stops_at_the_same_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    conservative = replace(FIFO, backfill="conservative")
    assert list(scan(*map(mixed, range(5)), SMALL, policy=conservative).starts) == ["small"]
    monkeypatch.setattr(queue_pass, "SCAN_LOOKS", 2 * LOOKS)
    assert not scan(*map(mixed, range(5)), SMALL, policy=conservative).starts
