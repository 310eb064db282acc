"""The effect of losing nodes, which is only computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import FIFO, component, node, queued, started
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.budget import OutOfBudget
from zoe_master.scheduler.what_if.node_loss import DelayedExecution, node_loss

NODES = (node("a", cores=8), node("b", cores=8))
ON_A = started(queued("on-a", component(cores=6), expected_run_s=100.0), "a")
ON_B = started(queued("on-b", component(cores=4), expected_run_s=100.0), "b")
WIDE = started(queued("wide", component(cores=1, total_count=3)), "b", "a", "a")


def test_what_fits_elsewhere_starts_again_at_once() -> None:
    loss = node_loss(Snapshot(10.0, NODES, (), (ON_B, started(queued("small", component(cores=4)), "a"))), FIFO, {"a"})
    [again] = loss.restarts
    assert (again.execution_id, again.services, again.starts_now, again.wait_s) == ("small", 1, True, 0.0)
    assert (loss.failed, loss.shrunk, loss.longer) == ((), (), ())


def test_what_does_not_fit_waits_for_the_expected_end_of_others() -> None:
    [again] = node_loss(Snapshot(10.0, NODES, (), (ON_A, ON_B)), FIFO, {"a"}).restarts
    assert (again.starts_now, again.wait_s) == (False, pytest.approx(91.0))  # on-b was placed at 1 s
    assert again.reason is not None
    assert again.reason.code == ReasonCode.NO_RESOURCES


def test_what_fits_no_node_that_is_left_waits_for_the_return_of_nodes() -> None:
    nodes = (node("a", cores=8), node("b", cores=2))
    [again] = node_loss(Snapshot(10.0, nodes, (), (ON_A,)), FIFO, {"a"}).restarts
    assert (again.starts_now, again.wait_s) == (False, None)
    assert again.reason is not None
    assert again.reason.code == ReasonCode.NODES_AWAY


def test_elastic_services_alone_end_no_execution() -> None:
    loss = node_loss(Snapshot(10.0, NODES, (), (WIDE,)), FIFO, {"a"})
    assert (loss.shrunk, loss.restarts, loss.failed) == ((("wide", 2),), (), ())


def test_the_attempts_for_failures_of_the_platform_are_counted() -> None:
    tired = replace(ON_A, attempt=FIFO.start_attempts_max)
    loss = node_loss(Snapshot(10.0, NODES, (), (tired,)), FIFO, {"a"})
    assert (loss.failed, loss.restarts) == ((("on-a", 1),), ())


def test_waiting_executions_start_later() -> None:
    waits = queued("waits", component(cores=8), at_s=5.0, expected_run_s=10.0)
    loss = node_loss(Snapshot(10.0, NODES, (waits,), (ON_A, ON_B)), FIFO, {"a"})
    assert loss.longer == (DelayedExecution("waits", pytest.approx(91.0), pytest.approx(191.0)),)


def test_a_pass_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(OutOfBudget):
        node_loss(Snapshot(10.0, NODES, (queued("one"),), (ON_A,)), FIFO, {"a"}, lambda _steps=1: True)
