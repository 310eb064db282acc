"""Questions to the published result of a tick."""

from __future__ import annotations

from tests.support.scheduling import component, node, queued, started
from zoe_lib.run_times.samples import run_key
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.ordering.estimate import EstimateSource
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.budget import StepCount


def test_a_plan_knows_past_runs_of_a_kind_of_which_none_is_there() -> None:
    wanted = queued("x", component(cores=1.0, memory_gib=1))
    snapshot = Snapshot(10.0, (node("n", cores=4),))
    kind = run_key(wanted)
    for past, source in (({kind: 30.0}, EstimateSource.PAST_RUNS), ({}, EstimateSource.UNKNOWN)):
        tick = Tick(snapshot, Plan(), "plan-1", 0.0, raced=False, expected=past.get)
        proposal, _, end = tick.propose(wanted.application, wanted.tenant, wanted.user, 0, StepCount())
        assert proposal.starts_now
        assert (end.source, end.run_s) == (source, past.get(kind))


def test_forecasts_count_from_now_and_not_from_the_tick() -> None:
    """A master with nothing to do ticks rarely."""
    wanted, busy = (queued(name, component(cores=3.0, memory_gib=1), expected_run_s=30.0) for name in ("x", "busy"))
    for others, starts_s in (((), 14.0), ((started(busy, "n"),), 31.0)):
        snapshot = Snapshot(10.0, (node("n", cores=4),), (), others)
        tick = Tick(snapshot, Plan(), "plan-1", 0.0, raced=False).moved_to(14.0)
        _, start, end = tick.propose(wanted.application, wanted.tenant, wanted.user, 0, StepCount())
        assert end.end_p50_s == starts_s + 30.0
        assert (start is None) == (not others)
        assert start is None or (start.at_s, start.start_p50_s) == (14.0, starts_s)
        assert tick.moved_to(9.0).snapshot.now_s == 14.0, "a clock that went back"
