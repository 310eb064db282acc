"""A core that the bounded search can neither place nor refuse is accepted with a note, and blocks no other."""

from __future__ import annotations

from tests.support.scheduling import FIFO, component, node, queued
from zoe_lib.domain.cluster.cluster import never_fits
from zoe_lib.domain.values.reasons import NOT_SHOWN_TO_FIT, ReasonCode
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.what_if.explain import explain

# 397 of 400 GiB in thirteen pieces: a search needs more steps than the limit allows.
SIZES = (44, 37, 30, 34, 29, 22, 45, 28, 18, 12, 26, 35, 37)
NODES = tuple(node(f"n{i}", memory_gib=100) for i in range(4))
HARD = queued("hard", *(component(f"c{i}", cores=0, memory_gib=size) for i, size in enumerate(SIZES)))


def test_it_is_accepted_and_those_behind_it_start() -> None:
    assert never_fits(HARD.application, NODES) is None
    snapshot = Snapshot(10.0, NODES, (HARD, queued("next", at_s=1.0)))
    plan = schedule(snapshot, FIFO)
    assert set(plan.starts) == {"next"}
    assert plan.reasons["hard"].code is ReasonCode.NO_RESOURCES


def test_explain_says_that_it_was_not_shown_to_fit() -> None:
    said = explain(Snapshot(10.0, NODES, (HARD,)), FIFO, "hard")
    assert said is not None
    assert said.reason is not None
    assert said.reason.hint == NOT_SHOWN_TO_FIT
    assert "not shown to fit" in said.reason.hint


def test_searches_of_a_pass_are_bounded_together() -> None:
    crowd = tuple(queued(f"hard{i}", *HARD.application.components[:-1], component(f"x{i}", 0, 36)) for i in range(40))
    plan = schedule(Snapshot(10.0, NODES, (*crowd, queued("next", at_s=1.0))), FIFO)
    assert "next" in plan.starts
